"""`lfs df`: how full targets are, once or many times, each time after a line `BEGIN <seconds since the epoch>`.

UUID                   1K-blocks        Used   Available Use% Mounted on
scratch-OST0001_UUID 90767651352 64867282280 24942697308  72% /scratch[OST:1]
"""

import re
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from iomine.errors import UnreadableError
from iomine.sources.clock import read_at
from iomine.sources.lustre.doubts import doubt
from iomine.sources.lustre.lines import DIGITS, LETTERS, Text, last_before, microseconds, numbers, times
from iomine.sources.lustre.tables import FULLNESS, labels, table_of
from iomine.sources.model import Input, Readings
from iomine.units import KIB

_HEAD_BYTES: Final = 1 << 16
_HEADING: Final = re.compile(rb"^UUID +(1K-blocks|bytes|Inodes) +I?Used ", re.MULTILINE)
_BLOCKS: Final = b"1K-blocks"
_SECOND: Final = 1_000_000
_NAMES: Final = LETTERS + DIGITS
_BEGIN: Final = r"^BEGIN (?P<seconds>[0-9]{1,10})\s*$"
_ROW: Final = (
    r"^(?P<target>[A-Za-z0-9_.-]+?)(?:_UUID)?\s+(?P<capacity>[0-9]{1,15})\s+(?P<used>[0-9]{1,15})\s+(?P<free>[0-9]{1,15})"
    r"\s+[0-9]+%\s+(?P<mount>[^\n]*)\[(?P<kind>OST|MDT):[0-9]+\][^\n]*\n?$"
)
_BETWEEN: Final = r"^\s*$|^UUID +1K-blocks |^filesystem[ _]summary:"
_SILENT: Final = r"^(?P<target>[A-Za-z0-9_.-]+) *: [^\n]*\n?$"


def is_fullness(source: Input) -> bool:
    """Whether an input looks like `lfs df`."""
    return bool(_HEADING.search(source.data[:_HEAD_BYTES]))


def read_fullness(source: Input) -> Readings:
    """Reads what `lfs df` printed.

    Raises:
        UnreadableError: the command printed something other than blocks, or no target can be read.
    """
    heading = _HEADING.search(source.data)
    if heading is None or heading[1] != _BLOCKS:
        raise UnreadableError("lfs df rounds or leaves out sizes with this option; run lfs df without options")
    text = Text(source.data)
    text.skip(b" \t\r\nUf", _BETWEEN)
    begins = text.find(b"B", _BEGIN)
    found = text.find(_NAMES, _ROW)
    doubts: dict[str, int | bool] = {
        "targets that did not answer": len(text.find(_NAMES, _SILENT).at),
        "lines left out, which are not as lfs df writes them": int(np.count_nonzero(~text.is_known)),
    }
    if not len(found.at):
        raise UnreadableError(f"it has the size of no target; {doubt(doubts) or 'it is empty'}")
    clock = read_at(source)
    index = last_before(found.at, begins.at, np.zeros(len(text), np.int32))
    moments = np.append(np.asarray(numbers(begins.words["seconds"], pa.int64())) * _SECOND, microseconds(clock.at))
    doubts[clock.doubt] = bool((index < 0).any())
    columns = {"sampled_at": times(moments[index])} | _columns(found.words)
    return Readings({FULLNESS: table_of(FULLNESS, columns)}, doubt(doubts), has_moment=bool((index >= 0).all()))


def _columns(words: Any) -> dict[str, Any]:  # noqa: ANN401
    sizes = {f"{what}_bytes": pc.multiply(numbers(words[what], pa.int64()), KIB) for what in ("capacity", "used", "free")}
    return sizes | {
        "target": labels(words["target"]),
        "target_kind": labels(words["kind"], lambda kind: kind.decode().lower()),
        "mount": labels(words["mount"], lambda mount: mount.decode("utf-8", "backslashreplace")).dictionary_decode(),
    }
