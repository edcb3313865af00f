"""A log's I/O model in words: what a program does, for who sees it for the first time."""

from collections.abc import Sequence
from typing import Final

from iomine.units import counted, fine_seconds, human_bytes
from iomine.views.answers import Row

# More clauses make no sentence.
_MOST: Final = 3
_VERBS: Final = {"read": "reads", "write": "writes"}
ORDER_WORDS: Final = {
    "single": "one request of a rank in a phase",
    "consecutive": "each request begins where the one before ended",
    "strided": "single requests at equal distance",
    "segmented": "blocks of consecutive requests at equal distance",
    "random": "back and forth",
    "irregular": "forward, at changing distances",
}
FIDELITY_WORDS: Final = {
    "exact": "the same requests of each rank, in their order",
    "unordered": "the same requests of each rank, in another order",
    "bytes": "as many bytes in requests of this size, in other places",
}


def in_words(classes: Sequence[Row]) -> str:
    """A sentence on what a program does.

    Args:
        classes: of the question `report/phase_classes`, those of a log, in the order of time; at least one.
    """
    relevant = [row for row in classes if row["is_relevant"]] or list(classes)
    heaviest = sorted(relevant, key=lambda row: -(row["moved_bytes"] or 0))[:_MOST]
    said = [row for row in relevant if row in heaviest]
    text = "This program "
    for number, row in enumerate(said):
        text += (_link(said[number - 1], row) if number else "") + _clause(row, said[:number])
    others = classes[0]["log_class_count"] - len(said)
    more = f", and moves the rest in {counted(others, 'other way')}" if others else ""
    return f"{text}{more}{_ranks(said)}."


def again(row: Row) -> str | None:
    """After how long the class's phases come again, as far as that is known.

    Args:
        row: of the question `report/phase_classes`.
    """
    if row["phase_count"] == 1:
        return "no"
    if row["period_seconds"]:
        return f"every {fine_seconds(row['period_seconds'])}"
    return None if row["gap_seconds"] is None else f"after {fine_seconds(row['gap_seconds'])}"


def _link(before: Row, row: Row) -> str:
    if before["end_seconds"] is None or row["start_seconds"] is None:
        return ", and "
    return ", then " if row["start_seconds"] >= before["end_seconds"] else ", and meanwhile "


def _clause(row: Row, before: Sequence[Row]) -> str:
    verb, count, moved = _VERBS[row["op"]], row["phase_count"], row["moved_bytes"]
    if moved is None:
        return f"{verb} a number of bytes that is not known"
    is_back = row["op"] == "read" and any(_is_written_file(row, other) for other in before)
    back = " back" if is_back else ""
    if count is None:
        return f"{verb} {human_bytes(moved)}{back} in an unknown number of phases"
    if count == 1:
        return f"{verb} {human_bytes(moved)}{back} once"
    is_equal = row["bytes_per_rank"] is not None and row["bytes_per_rank"] * row["rank_count"] * count == moved
    every = f", every {fine_seconds(row['period_seconds'])}" if row["period_seconds"] else ""
    about = "" if is_equal else "about "
    return f"{verb} {about}{human_bytes(moved / count)}{back} {count:,} times{every} ({human_bytes(moved)} in all)"


def _is_written_file(row: Row, other: Row) -> bool:
    """Whether both are of one and the same file, which the other writes."""
    is_one_file: bool = row["file_count"] == other["file_count"] == 1 and row["file_id"] == other["file_id"]
    return is_one_file and other["op"] == "write"


def _ranks(said: Sequence[Row]) -> str:
    """Who does it, where that is the same for all classes."""
    counts, accesses = {row["rank_count"] for row in said}, {row["access"] for row in said}
    if len(counts) > 1 or len(accesses) > 1 or None in counts:
        return ""
    (count,), (access,) = counts, accesses
    if count == 1:
        return "; one rank does all of it"
    ranks = counted(count, "rank")
    if access == "own":
        return f"; each of {ranks} has files of its own"
    if access == "shared":
        return f"; {ranks} share {_files({row['file_count'] for row in said})}"
    return ""


def _files(counts: set[int]) -> str:
    (count, *others) = counts
    return "files" if others else "one file" if count == 1 else counted(count, "file")
