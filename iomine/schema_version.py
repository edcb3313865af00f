"""Version of the schema: a number that rises when a table's name, shape or meaning changes."""

from typing import Final

# 1: warehouses that say no version. 2: I/O time of the layer that was called, four states of verdicts.
# 3: a number for every change of a table; those of 2 may lack columns. 4: what an advice depends on,
# steps of programs, paths that were cut, and files that need not be opened again. 5: sums of layers. 6: parts of I/O time.
# 7: what each log did in each layer. 8: heat maps without the bins that have no bytes, and the callers of phase classes.
# 9: whose findings are, and the facility's part of costs. 10: that part by trigger, in sums of nights.
SCHEMA_VERSION: Final = 10
UNSAID: Final = 1
# Of each version since then, a digest of all tables (`tests/unit/schema/test_version.py`). Lines are added, never changed.
SHAPES: Final = {
    3: "1f527786040cb93a",
    4: "a5d5bb076daf4eff",
    5: "ffdb5b9066204a41",
    6: "78834db2da3445b0",
    7: "6de0f04fa69a553b",
    8: "550ca9c3267ebe29",
    9: "99859c1e68a93eeb",
    10: "cdb57c2219133a7f",
}


def mismatch(place: object, version: int) -> str | None:
    """A sentence for who would read what another version wrote, None where it is this one.

    Args:
        place: what carries the version.
        version: the one that it carries.
    """
    if version == SCHEMA_VERSION:
        return None
    way_out = "run `iomine upgrade`" if version < SCHEMA_VERSION else "use the iomine that wrote it, or a newer one"
    return f"The warehouse {place} has schema version {version}, and this iomine reads version {SCHEMA_VERSION}: {way_out}."
