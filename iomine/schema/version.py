"""What columns mean, as a number: it rises when one that is kept comes to mean something else."""

from typing import Final

# 1: warehouses that say no version. 2: I/O time of the layer that was called, four states of verdicts.
SCHEMA_VERSION: Final = 2
UNSAID: Final = 1


def mismatch(place: object, version: int) -> str | None:
    """A sentence for who would read what another version wrote, None where it is this one.

    Args:
        place: what carries the version.
        version: the one that it carries.
    """
    if version == SCHEMA_VERSION:
        return None
    if version < SCHEMA_VERSION:
        way_out = "sweep the logs into a new one with --warehouse"
    else:
        way_out = "use the iomine that wrote it, or a newer one"
    return f"The warehouse {place} has schema version {version}, and this iomine reads version {SCHEMA_VERSION}: {way_out}."
