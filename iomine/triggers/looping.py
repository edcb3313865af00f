"""Texts of metadata triggers for logs whose ranks open or look up one file again and again."""

from iomine.triggers.inputs import with_ranks
from iomine.triggers.model import Instead


def where_looping(finding: str) -> tuple[Instead, ...]:
    """What is said in place of a finding on metadata calls, where half of these or more are such loops."""
    return (
        Instead(
            "looping_call_count",
            finding=(
                "Ranks opened or looked up one file about {looping_call_count} times each, above all {longest_meta_path}. "
                f"{finding}"
            ),
            advice=(
                (
                    "Look for {longest_meta_path} every few seconds instead of all the time. Open once, and keep open, what is "
                    "read again and again."
                ),
                # Records do not show which of the files that are looked for are one rank's.
                with_ranks("Where ranks look for the same file, let one of them look, and broadcast what it finds."),
            ),
        ),
    )
