"""A file as the system describes it: as long as that stays the same, so do its bytes."""

import os
from hashlib import blake2b
from typing import Final, NamedTuple, Self

_KEY_BYTES: Final = 8


class FileState(NamedTuple):
    """What changes with a file's bytes, without a look at them.

    Attributes:
        size_bytes: how many they are.
        modified_ns: when they were last changed, as programs may set it, in nanoseconds since the epoch.
        changed_ns: when they, or the file's name or owner, were last changed, which no program can set.
        inode: the file's number in its file system; one that takes its place has another.
    """

    size_bytes: int
    modified_ns: int
    changed_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Self:
        """The state of a file of this status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    def key(self, path: str) -> int:
        """A digest of state and path, of 64 bits: neither can be read from it."""
        text = f"{path}\0{self.size_bytes}\0{self.modified_ns}\0{self.changed_ns}\0{self.inode}"
        return int.from_bytes(blake2b(os.fsencode(text), digest_size=_KEY_BYTES).digest(), "little", signed=True)
