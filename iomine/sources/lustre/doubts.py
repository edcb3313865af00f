"""What is not to be trusted in a text, in a sentence."""

from collections.abc import Mapping


def doubt(found: Mapping[str, int | bool]) -> str:
    """Whatever was found of some doubts, with how often it was.

    Args:
        found: how often each was found, or whether it was where it does not count.
    """
    parts = (what if count is True else f"{what}: {count:,}" for what, count in found.items() if count)
    return "; ".join(filter(None, parts))
