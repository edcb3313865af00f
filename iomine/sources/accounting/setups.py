"""Files found beside accounting that are not accounting: recognised by their form, and refused with the name of their kind."""

import re
from typing import Final

from iomine.errors import UnreadableError
from iomine.sources.accounting.lines import head_of, numbered
from iomine.sources.model import Input, Readings, Source

# By the first line that is no comment.
_LINES: Final = {
    r"NodeName=\S": "nodes as in scontrol show node or slurm.conf",
    r"cpu=\d+,slot=\d+,cage=\d+,": "the places of a Cray's processors (xtdb2proc)",
    r'\{"\d+(?:\.\w+)?"\s*:\s*\{"jobidraw"': "pytokio's copy of one job rather than what sacct prints",
}
_NODES: Final = re.compile(r'"(?:nodes|sinfo)"\s*:\s*\[')
_SLURMS: Final = re.compile(r'"slurm"', re.IGNORECASE)


def _what(source: Input) -> str | None:
    head = head_of(source.data)
    if head.lstrip().startswith("{") and _NODES.search(head) and _SLURMS.search(head):
        return "Slurm's JSON of nodes"
    line = next((line for _, line in numbered(head.encode())), "")
    return next((what for shape, what in _LINES.items() if re.match(shape, line, re.ASCII)), None)


def _refuse(source: Input) -> Readings:
    raise UnreadableError(f"This holds no jobs, but {_what(source)}.")


# Known so that the reason is a better one than that nobody knows the file.
SETUP: Final = Source("scheduler_setup", lambda source: _what(source) is not None, _refuse)
