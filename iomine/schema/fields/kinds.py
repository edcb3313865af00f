"""What a column is: its kind, which fixes the Arrow type and the unit, and whether it identifies people and places."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

import pyarrow as pa


class _Kind(NamedTuple):
    """What a kind of column holds; the label keeps kinds of equal type and unit apart."""

    label: str
    type: pa.DataType
    unit: str


class Kind(_Kind, Enum):
    """What a column holds: its Arrow type and its unit."""

    ID = ("id", pa.int64(), "")
    TEXT = ("text", pa.string(), "")
    # A few texts over and over: an index into them is smaller in memory and faster to write.
    LABEL = ("label", pa.dictionary(pa.int32(), pa.string()), "")
    INTEGER = ("integer", pa.int64(), "")
    # An index that people read as `iomine.units.ost_name` writes it.
    OST = ("ost", pa.int64(), "")
    COUNT = ("count", pa.int64(), "count")
    BYTES = ("bytes", pa.int64(), "bytes")
    SECONDS = ("seconds", pa.float64(), "s")
    CORE_SECONDS = ("core_seconds", pa.float64(), "core s")
    NODE_HOURS = ("node_hours", pa.float64(), "node h")
    BYTE_RATE = ("byte_rate", pa.float64(), "bytes/s")
    COUNT_RATE = ("count_rate", pa.float64(), "1/s")
    BYTES_PER_CORE_SECOND = ("bytes_per_core_second", pa.float64(), "bytes/core s")
    CORE_SECONDS_PER_MIB = ("core_seconds_per_mib", pa.float64(), "core s/MiB")
    RATIO = ("ratio", pa.float64(), "")
    NUMBER = ("number", pa.float64(), "")
    FLAG = ("flag", pa.bool_(), "")
    TIME = ("time", pa.timestamp("us", tz="UTC"), "UTC")
    DATE = ("date", pa.date32(), "UTC")
    # A number from 0 to 255 for each index.
    PORTS = ("ports", pa.binary(), "")
    # A logarithm in two bytes, little-endian, for each ten minutes; `iomine.derive.fabric_night` writes and reads it.
    LEVELS = ("levels", pa.binary(), "")
    INTEGERS = ("integers", pa.list_(pa.int64()), "")
    # Numbers of what a log holds at most millions of; they take a third less room than wider ones.
    INDICES = ("indices", pa.list_(pa.int32()), "")
    TEXTS = ("texts", pa.list_(pa.string()), "")


class Privacy(Enum):
    """Whether a column identifies people and places, and so what an anonymised export makes of it."""

    # Words of this program, of Darshan, or of servers, which no user chooses: they stay.
    OPEN = auto()
    # Words of other programs, in whose place stray text may stand: words that everybody knows stay.
    TERM = auto()
    # Names that a site gives: users, accounts, hosts, queues.
    NAME = auto()
    # Names and texts of anybody's making.
    WORD = auto()
    # Paths: each part is a word.
    PATH = auto()
    # A command line: words and paths.
    COMMAND = auto()
    # MPI-IO hints and the like: `name=value;name=value`.
    HINTS = auto()
    # Ids of jobs as text, and names instead of them: views identify them by their digits.
    JOB = auto()
    # Storage targets: views read file system and index from `scratch-OST001a`.
    TARGET = auto()
    # Sentences of this program, with names filled in.
    SENTENCE = auto()
    # Digests of files in hex: anyone who has the file can find it by them.
    DIGEST = auto()
    # Numbers that name something.
    NUMBER = auto()
    # Darshan's record ids, which are hashes of paths, so anyone who guesses a path can check it.
    FILE_ID = auto()


@dataclass(frozen=True, slots=True)
class Field:
    """One column, wherever it appears.

    Attributes:
        name: the word, the same in every table and view.
        kind: Arrow type and unit.
        about: one sentence for the data dictionary.
        privacy: whether it identifies people and places; None for measures, which do not.
    """

    name: str
    kind: Kind
    about: str
    privacy: Privacy | None = None

    @property
    def type(self) -> pa.DataType:
        """The Arrow type."""
        return self.kind.type

    @property
    def unit(self) -> str:
        """The unit, empty where there is none."""
        return self.kind.unit


def defined(kind: Kind, privacy: Privacy | None = None, /, **about: str) -> dict[str, Field]:
    """Columns of one kind: a sentence by name."""
    return {name: Field(name, kind, sentence, privacy) for name, sentence in about.items()}
