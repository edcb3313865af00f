"""Keyed pseudonyms: they replace names, numbers and sentences that identify people and places in an anonymised export.

A pseudonym is an HMAC-SHA256 under a key that the site keeps: the same name has the same pseudonym everywhere, another
key gives other pseudonyms, and without the key a list of names is of no use. The kind of each column is declared with its field
(`schema/fields`); this module replaces the values, one Arrow column at a time. Empty texts and NULL stay as they are.
"""

import hmac
import re
import shlex
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.layouts import REASONS
from iomine.errors import UsageError
from iomine.schema import Kind, Privacy, field
from iomine.settings import read_secret
from iomine.triggers.finding import Slot, renamed, shell_word
from iomine.triggers.registry import find_trigger

if TYPE_CHECKING:
    from collections.abc import Callable

_LEAST_BYTES: Final = 32
_MOST_BYTES: Final = 1 << 16
# Signs in place of hex digits: without vowels no pseudonym is a word, and without digits none is a number.
_SIGNS: Final = bytes.maketrans(b"0123456789abcdef", b"bcdfghjkmnpqrstz")
_LENGTH: Final = 20
_REMEMBERED: Final = 1 << 16
# Kinds that may name something, so each such field needs a decision.
_IDENTIFYING: Final = frozenset({Kind.TEXT, Kind.LABEL, Kind.TEXTS, Kind.ID})

# Folders at the root that every machine has; folders below them may name anybody.
_ROOTS: Final = frozenset(
    "bin boot dev etc home lib lib64 lus lustre media mnt opt proc root run sbin scratch srv sys tmp usr var work".split()
)
# What Darshan itself writes instead of a name.
_DARSHANS_WORDS: Final = frozenset(("<STDIN>", "<STDOUT>", "<STDERR>", "<unknown", "args>"))
_ENDINGS: Final = frozenset(
    "7z adios ascii bak bin bp bz2 c cc cfg cgns chk chkpt ckpt conf cpp csv cu dat dcd db dtd err exe exo f f90 fits gro grb "
    "grib grib2 gz h h5 hdf hdf5 html in inp ini jpg json log lock lz4 mat md mpi nc nc4 nml npy npz o out parquet pdb "
    "pickle pkl png pt pth py pyc root safetensors sh silo so sqlite tar tfrecord tgz tif tiff tmp toml tpr trr tsv txt vtk vtp "
    "vtu xdmf xml xtc xyz xz yaml yml zarr zip zst".split()
)
_TERMS: Final = frozenset(
    (
        # File systems.
        "autofs beegfs bpf btrfs ceph cgroup cgroup2 configfs cramfs cvmfs2 debugfs devpts devtmpfs dvs efivarfs erofs exfat "
        "ext2 ext3 ext4 fuse fuse.dfuse fuse.sshfs fuse.squashfuse_ll fusectl gpfs hugetlbfs iso9660 lustre mqueue nfs nfs4 "
        "nfsd overlay panfs proc pstore pvfs2 ramfs rootfs rpc_pipefs securityfs selinuxfs squashfs sysfs tmpfs tracefs ufs "
        "vfat wekafs xfs zfs "
        # Keys of Darshan's metadata, steps and states of jobs, and what hints are set to.
        "lib_ver h prev_ver batch extern interactive BOOT_FAIL CANCELLED COMPLETED COMPLETING CONFIGURING DEADLINE FAILED "
        "NODE_FAIL OUT_OF_MEMORY PENDING PREEMPTED REQUEUED RESIZING REVOKED RUNNING SPECIAL_EXIT STOPPED SUSPENDED TIMEOUT "
        "enable disable automatic true false"
    ).split()
)
# Versions, steps and exit codes; an id has more digits.
_FIGURES: Final = re.compile(r"-?\d{1,3}(?:[.:+]\d{1,3}){0,4}(?:-?(?:pre|rc|alpha|beta|dev)-?\d{0,3})?", re.ASCII)
_HINT: Final = re.compile(r"(?:romio|cb|striping|ind|direct|lustre|gpfs|panfs|pvfs2|nc|nfs)_[a-z0-9_]{1,40}", re.ASCII)
_SETTING: Final = re.compile(r"-?\d{1,19}|enable|disable|automatic|true|false", re.ASCII)
_JOB: Final = re.compile(r"(\d+)(?:([.:_@+\[-])(.*))?", re.ASCII)
_TARGET: Final = re.compile(r"(?:(.*)-)?((?:OST|MDT)[0-9a-fA-F]{1,8})(.*)", re.DOTALL)


def read_key(file: Path) -> bytes:
    """The key that a file holds: all of its bytes.

    Raises:
        UsageError: it cannot be read, others than its owner may read it, or it is too short to keep guesses out.
    """
    key = read_secret(file, "key")
    if not _LEAST_BYTES <= len(key) <= _MOST_BYTES:
        raise UsageError(
            f"The key {file} must hold {_LEAST_BYTES} to {_MOST_BYTES:,} bytes: `head -c 32 /dev/urandom` gives some."
        )
    return key


class Pseudonyms:
    """Pseudonyms under one key.

    Args:
        key: the site's.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._remembered = lru_cache(_REMEMBERED)(self._sign)
        self._rules: dict[Privacy, Callable[[Any], Any]] = {
            Privacy.OPEN: str,
            Privacy.TERM: self._term,
            Privacy.NAME: partial(self._named, "name"),
            Privacy.WORD: self._word,
            Privacy.PATH: self._path,
            Privacy.COMMAND: self._command,
            Privacy.HINTS: self._hints,
            Privacy.JOB: self._job,
            Privacy.TARGET: self._target,
            Privacy.SENTENCE: self._reason,
            Privacy.DIGEST: self._hex,
            Privacy.FILE_ID: lambda number: number and self._number("file", str(number)),
        }

    @property
    def key_id(self) -> str:
        """Identifies the key of an export, and differs for every other key."""
        return self._named("key", "id")

    def rows(self, rows: pa.Table) -> pa.Table:
        """The same rows of a table of the lake, with pseudonyms."""
        codes = rows["code"] if "code" in rows.column_names else None
        columns = [self._column(name, rows[name], codes) for name in rows.column_names]
        return pa.table(dict(zip(rows.column_names, columns, strict=True)))

    def _column(self, name: str, column: pa.ChunkedArray, codes: pa.ChunkedArray | None) -> Any:  # noqa: ANN401
        entry = field(name)
        if entry.privacy is None and entry.kind in _IDENTIFYING:
            raise ValueError(f"the field {name} needs a privacy rule")
        if entry.privacy in {None, Privacy.OPEN}:
            return column
        if entry.privacy is Privacy.SENTENCE and codes is not None:
            return self._sentences(name, column, codes)
        rule = partial(self._number_of, name) if entry.privacy is Privacy.NUMBER else self._rules[entry.privacy]
        if entry.kind is Kind.TEXTS:
            return pa.array([texts and [rule(text) for text in texts] for texts in column.to_pylist()], entry.type)
        # Each distinct value is looked at once, however many rows hold it.
        encoded = (
            column.unify_dictionaries().combine_chunks()
            if entry.kind is Kind.LABEL
            else column.combine_chunks().dictionary_encode()
        )
        values = [value if value is None else rule(value) for value in encoded.dictionary.to_pylist()]
        return pa.array(values, encoded.dictionary.type).take(encoded.indices)

    def _sentences(self, name: str, column: pa.ChunkedArray, codes: pa.ChunkedArray) -> Any:  # noqa: ANN401
        """Findings or advice with the names in them replaced; a text that no longer matches its trigger's is replaced whole."""
        texts, is_known = column.combine_chunks(), column.combine_chunks().is_valid()
        found = zip(codes.combine_chunks().filter(is_known).to_pylist(), texts.filter(is_known).to_pylist(), strict=True)
        return pc.replace_with_mask(texts, is_known, pa.array([self._filled(name, *each) for each in found], texts.type))

    def _filled(self, name: str, code: str, text: str) -> str:
        trigger = find_trigger(code)
        if trigger is None:
            return self._word(text)
        return renamed(trigger.templates("finding" if name == "finding" else "advice"), text, self._name_for) or self._word(text)

    def _name_for(self, slot: Slot, text: str) -> str:
        name_of = self._rules[field(slot.metric).privacy or Privacy.WORD]
        return shell_word(str(name_of(shlex.split(text)[0]))) if slot.spec else str(name_of(text))

    def _sign(self, domain: str, text: str) -> str:
        return hmac.digest(self._key, f"{domain}\0{text}".encode(), "sha256").hex()

    def _named(self, domain: str, text: str) -> str:
        return self._remembered(domain, text).encode().translate(_SIGNS)[:_LENGTH].decode() if text else text

    def _word(self, text: str) -> str:
        return self._named("word", text)

    def _number(self, domain: str, text: str) -> int:
        # Never negative.
        return int(self._remembered(domain, text)[:16], 16) >> 1

    def _number_of(self, domain: str, number: int) -> int:
        return self._number(domain, str(number))

    def _hex(self, text: str) -> str:
        return self._sign("digest", text)[: len(text)]

    def _term(self, text: str) -> str:
        return text if text in _TERMS or _FIGURES.fullmatch(text) else self._word(text)

    def _path(self, text: str) -> str:
        first, *parts = text.split("/")
        if not parts:
            return self._part(first)
        if not first and parts[0] in _ROOTS:
            return "/".join((first, parts[0], *map(self._part, parts[1:])))
        return "/".join(map(self._part, (first, *parts)))

    def _part(self, text: str) -> str:
        if text in {"", ".", ".."} or text in _DARSHANS_WORDS:
            return text
        stem, dot, ending = text.rpartition(".")
        return f"{self._word(stem)}{dot}{ending}" if stem and ending in _ENDINGS else self._word(text)

    def _command(self, text: str) -> str:
        return " ".join(map(self._path, text.split(" ")))

    def _hints(self, text: str) -> str:
        return ";".join(map(self._hint, text.split(";")))

    def _hint(self, text: str) -> str:
        name, _, setting = text.partition("=")
        return text if _HINT.fullmatch(name) and _SETTING.fullmatch(setting) else self._term(text)

    def _job(self, text: str) -> str:
        if not (match := _JOB.fullmatch(text)):
            return self._named("name", text)
        digits, sign, rest = match.groups(default="")
        return f"{self._number('job', digits)}{sign}{self._named('name', rest)}"

    def _target(self, text: str) -> str:
        if not (match := _TARGET.fullmatch(text)):
            return self._named("name", text)
        filesystem, target, rest = match.groups()
        head = "" if filesystem is None else f"{self._named('name', filesystem)}-"
        return f"{head}{target}{rest and f'_{self._word(rest)}'}"

    def _reason(self, text: str) -> str:
        return text if text in REASONS else self._word(text)
