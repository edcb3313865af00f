"""IOR's outputs: text of 3.0 to 4.1, summaries as JSON and CSV, and what lies beside them in a folder of IO500."""

from typing import Final

from iomine.sources.ior.beside import BESIDE
from iomine.sources.ior.document import DOCUMENT
from iomine.sources.ior.table import TABLE
from iomine.sources.ior.text import TEXT
from iomine.sources.model import Source

SOURCES: Final[tuple[Source, ...]] = (TEXT, DOCUMENT, TABLE, *BESIDE)
