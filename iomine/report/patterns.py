"""What the pattern of a ring says, in one sentence."""

from typing import Final

from iomine.units import fine_seconds, human_bytes, visible
from iomine.views.answers import Row

_VALUES: Final = {"latency": "latencies", "size": "sizes"}
_ENDS: Final = {"outer": "carriers", "inner": "storage"}
_MOST_NAMED: Final = 4
_TEN: Final = 10
# A factor of two: a smaller change is not seen in a picture.
_CHANGE_DECADES: Final = 0.3
# Half of the entropy of the place.
_PARTED: Final = 0.5


def is_worth_saying(row: Row) -> bool:
    """Whether a pattern has a name or outlying nodes, and does not repeat that of hosts or ranks.

    Args:
        row: a row of the view `link_patterns`.
    """
    is_again = row["node_level"] == "carrier" and row["carrier_kind"] != "aggregator"
    return not is_again and (row["traffic_pattern"] != "unknown" or row["outlying_count"] > 0)


def pattern_sentence(row: Row) -> str:
    """One sentence that names a pattern and says by which numbers and nodes.

    Args:
        row: a row of the view `link_patterns`.
    """
    subject = f"{row['op'].capitalize()} {_VALUES[row['metric']]} to {_ENDS[row['ring']]} by {_level(row)}"
    parts = [f"{subject}: {row['traffic_pattern']}"]
    count = f"{row['link_node_count']:,}"
    if row["traffic_pattern"] == "circular":
        parts.append(f"all {count} near {_value(row, row['middle_log10'])}")
    if row["traffic_pattern"] == "striped":
        parts.append(_stripes(row))
    if row["traffic_pattern"] in {"striped", "noisy"}:
        parts.append(f"the 90th percentile of {count} is {_times(10.0 ** row['spread_decades'])} the 10th")
    if row["outlying_count"]:
        parts.append(f"{_outlying(row)} the median of {count} ({_value(row, row['middle_log10'])})")
    if row["pattern_lack"]:
        parts.append(row["pattern_lack"][:1].lower() + row["pattern_lack"][1:].rstrip("."))
    return f"{', '.join(parts + _changes(row))}."


def ring_sentences(row: Row) -> list[str]:
    """What a ring lacks, and whether bands of neighbouring ranks go to different places.

    Args:
        row: a row of the view `link_ring`.
    """
    sentences = [row["missing"]] if row["missing"] else []
    ratio = row["striped_by_ratio"]
    if row["ring"] == "inner" and ratio is not None and ratio >= _PARTED:
        sentences.append(
            f"{row['op'].capitalize()}s: bands of ranks use places of their own; the band decides {ratio:.0%} of the place."
        )
    return sentences


def _level(row: Row) -> str:
    if row["node_level"] == "carrier":
        return row["carrier_kind"] or "carrier"
    return _called(row["node_level"])


def _called(node_level: str) -> str:
    return "OST" if node_level == "ost" else node_level


def _value(row: Row, log10: float) -> str:
    value = 10.0**log10
    return fine_seconds(value) if row["metric"] == "latency" else human_bytes(value)


def _times(ratio: float) -> str:
    return f"{ratio:.1f} times" if ratio < _TEN else f"{ratio:,.0f} times"


def _stripes(row: Row) -> str:
    """By which bands or period nodes are alike."""
    of = f" (those of {_called(row['coincides_with'])}s)" if row["coincides_with"] else ""
    if row["band_count"]:
        return f"{row['band_count']} bands of neighbours{of}"
    return f"every {row['period_node_count']} nodes alike{of}"


def _outlying(row: Row) -> str:
    """Outlying nodes by name, and how far off the furthest is."""
    names = [visible(name) for name in row["outlying_labels"] or ()][:_MOST_NAMED]
    more = row["outlying_count"] - len(names)
    *first, last = [*names, f"{more:,} more"] if more else names
    named = f"{', '.join(first)} and {last} at up to" if first else f"{last} at"
    return f"{named} {_times(row['outlying_ratio'] or float('inf'))}"


def _changes(row: Row) -> list[str]:
    """How the first or the last tenth of the run differs."""
    changes = []
    for stretch in ("first", "last"):
        name, middle = row[f"{stretch}_traffic_pattern"], row[f"{stretch}_middle_log10"]
        if middle is not None and (
            name not in {row["traffic_pattern"], "unknown"} or abs(middle - row["middle_log10"]) >= _CHANGE_DECADES
        ):
            changes.append(f"in the {stretch} tenth of its time {name} around {_value(row, middle)}")
    return changes
