"""What could not be derived from a log: rows of the table `failed_derivation`."""

from typing import Final

from iomine.pipeline.ingest.find import shown

FAILED: Final = "failed_derivation"
_ERROR_CHARACTERS: Final = 500


def error_line(error: Exception) -> str:
    """An error in one line. It may quote a log, so control characters are escaped."""
    # NumPy and Arrow have their own kinds of it.
    name = MemoryError.__name__ if isinstance(error, MemoryError) else type(error).__name__
    return shown(" ".join(f"{name}: {error}".split())[:_ERROR_CHARACTERS])
