"""What could not be worked out of a log: rows of the table `failed_derivation`."""

from typing import Final

from iomine.pipeline.ingest.find import shown

FAILED: Final = "failed_derivation"
_ERROR_CHARACTERS: Final = 500


def told(error: Exception) -> str:
    """An error in a line; what stands in it may be of a log's making."""
    return shown(" ".join(f"{type(error).__name__}: {error}".split())[:_ERROR_CHARACTERS])
