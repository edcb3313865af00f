"""Codes of the column `op`, where a number stands for it."""

from typing import Final

OPS: Final = ("read", "write")
READ: Final = OPS.index("read")
WRITE: Final = OPS.index("write")
