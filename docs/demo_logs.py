"""Prints the folder of the logs that come with PyDarshan, which the demo sweeps."""

from importlib.util import find_spec

if (spec := find_spec("darshan")) and spec.submodule_search_locations:
    print(spec.submodule_search_locations[0])  # noqa: T201
