"""Keeps pyarrow from loading pandas, which iomine's programs do not need."""

import sys
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Final

_PANDAS: Final = "pandas"


class _Missing(MetaPathFinder):
    """A finder of modules that says of pandas that it is not installed."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """None, so that others look for the module.

        Raises:
            ModuleNotFoundError: it is pandas.
        """
        if name == _PANDAS:
            raise ModuleNotFoundError(name)
        return None


@cache
def leave_pandas_out() -> None:
    """Keeps pyarrow from loading pandas when it first turns a list into an array.

    It does so only to ask whether the list is a column of pandas, and that takes longer than all else that a short command loads.
    pyarrow asks once in a process. Who wants pandas afterwards gets it: `to_pandas` loads it. To be called where a process
    of ours starts, not where somebody else's program uses iomine as a library.
    """
    if _PANDAS in sys.modules:
        return
    import pyarrow as pa  # noqa: PLC0415  processes that need none of it do not load it

    missing = _Missing()
    sys.meta_path.insert(0, missing)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(missing)
