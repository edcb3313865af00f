"""Pseudonyms: the same under one key, others under another, and shaped so that views still work."""

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iomine.derive.layouts import NO_LAYOUT
from iomine.errors import UsageError
from iomine.pipeline.export.pseudonyms import Pseudonyms, read_key
from iomine.schema import FIELDS, Kind, Privacy
from iomine.triggers import TRIGGERS

KEY = bytes(range(32))
ONE, OTHER = Pseudonyms(KEY), Pseudonyms(KEY[::-1])
NAME = "[b-df-hj-np-tz]{20}"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def of(name: str, *values: object, by: Pseudonyms = ONE) -> list[object]:
    """What values of a field become."""
    return by.rows(pa.table({name: pa.array(values, FIELDS[name].type)}))[name].to_pylist()


def word(text: str) -> str:
    """What a word of anybody's making becomes, worked out another way."""
    signature = hmac.new(KEY, b"word\0" + text.encode(), hashlib.sha256).hexdigest()
    return "".join("bcdfghjkmnpqrstz"[int(digit, 16)] for digit in signature[:20])


@pytest.fixture
def key_of(tmp_path: Path) -> Callable[..., Path]:
    """A file with a key in it."""

    def written(data: bytes, mode: int = 0o600) -> Path:
        file = tmp_path / "key"
        file.write_bytes(data)
        file.chmod(mode)
        return file

    return written


def test_a_key_is_all_bytes_of_its_file(key_of):
    """Whatever the bytes are, a newline at the end included."""
    assert bytes(31) + b"\n" == read_key(key_of(bytes(31) + b"\n"))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o602, 0o777])
def test_a_key_that_others_may_read_is_refused(key_of, mode: int):
    """Nor may others change it: it would not be the site's."""
    with pytest.raises(UsageError, match="can be read by others than its owner"):
        read_key(key_of(KEY, mode))


@pytest.mark.parametrize("data", [b"", b"secret", bytes(31), bytes((1 << 16) + 1)])
def test_a_key_that_is_too_short_is_refused(key_of, data: bytes):
    """A short one could be guessed, and what is very long is another file."""
    with pytest.raises(UsageError, match="must hold 32 to 65,536 bytes"):
        read_key(key_of(data))


@pytest.mark.parametrize(
    ("path", "why"), [("none", "No such file"), (".", "Is a directory"), ("/dev/zero", "not a regular file")]
)
def test_what_is_no_file_is_refused(tmp_path: Path, path: str, why: str):
    """A key is a file with an end."""
    with pytest.raises(UsageError, match=why):
        read_key(tmp_path / path)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("user", "ann", NAME),
        ("job_name", "run of ann", NAME),
        ("path", "/home/ann/out.h5", f"/home/{NAME}/{NAME}.h5"),
        ("path", "/home", "/home"),
        ("path", "home/ann", f"{NAME}/{NAME}"),
        ("path", "/gpfs17/home", f"/{NAME}/{NAME}"),
        ("path", "/scratch//ann/../bob/./x.ann", f"/scratch//{NAME}/../{NAME}/./{NAME}"),
        ("path", "/scratch/.h5", f"/scratch/{NAME}"),
        ("path", "<STDOUT>", "<STDOUT>"),
        ("mount", "/", "/"),
        ("app", "wrf.exe", rf"{NAME}\.exe"),
        ("exe", "/sw/bin/wrf  --out=/home/ann -n 5", f"/{NAME}/{NAME}/{NAME}  {NAME}/{NAME}/{NAME} {NAME} {NAME}"),
        ("job_id", "4100001", r"\d{1,19}"),
        ("owner", "4100001.0:nid00012", rf"\d{{1,19}}\.{NAME}"),
        ("owner", "dd.20001", NAME),
        ("shown_job_id", "4100001_17", rf"\d{{1,19}}_{NAME}"),
        ("shown_job_id", "4100001[17].sdb", rf"\d{{1,19}}\[{NAME}"),
        ("target", "scratch-OST001a", f"{NAME}-OST001a"),
        ("target", "MDT0000", "MDT0000"),
        ("target", "scratch-ffff9f1a", NAME),
        ("target", "scratch-OST001a_UUID", f"{NAME}-OST001a_{NAME}"),
        ("fs_type", "lustre", "lustre"),
        ("fs_type", "import os", NAME),
        ("darshan_version", "3.4.0-pre1", "3.4.0-pre1"),
        ("darshan_version", "20001", NAME),
        ("exit_code", "0:15", "0:15"),
        ("job_state", "COMPLETED", "COMPLETED"),
        ("job_state", "ann", NAME),
        ("entry", "romio_no_indep_rw=true;cb_nodes=4", "romio_no_indep_rw=true;cb_nodes=4"),
        ("entry", "cb_config_list=nid00012:1;ann=4", f"{NAME};{NAME}"),
        ("log_id", "30394c02e89cc9f1", "[0-9a-f]{16}"),
        ("sha256", "ab" * 32, "[0-9a-f]{64}"),
        ("reason", NO_LAYOUT, re.escape(NO_LAYOUT)),
        ("reason", "The file of ann is damaged.", NAME),
        ("counter", "read_bytes", "read_bytes"),
    ],
)
def test_what_becomes_of_texts(name: str, text: str, expected: str):
    """Structure stays, and words that everybody knows where they say nothing; all else is replaced."""
    (got,) = of(name, text)
    assert re.fullmatch(expected, got)


@pytest.mark.parametrize("name", sorted(name for name, entry in FIELDS.items() if entry.type in (pa.string(), Kind.LABEL.type)))
def test_what_is_not_there_stays_so(name: str):
    """Empty texts and NULL are nobody's names."""
    assert ["", None] == of(name, "", None)


def test_a_word_is_an_hmac():
    """A pseudonym is worked out from key, domain and name by HMAC-SHA256, and from nothing else."""
    assert [f"/home/{word('ann')}/{word('run 7')}/{word('out')}.h5"] == of("path", "/home/ann/run 7/out.h5")


@given(TEXTS.filter(bool), TEXTS.filter(bool))
def test_names_stay_different(one: str, other: str):
    """Equal names have equal pseudonyms, different ones do not; a name has another one for each kind of thing that it names."""
    assert (one == other) == (of("user", one) == of("user", other))
    assert of("user", one) != of("job_name", one)
    assert of("user", one) != of("user", one, by=OTHER)


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1))
def test_numbers_stay_different(one: int, other: int):
    """A number that names something becomes another, never negative; of what it is one makes a difference."""
    assert (one == other) == (of("uid", one) == of("uid", other))
    assert of("uid", one) != of("thread_id", one)
    assert of("uid", one) != of("uid", one, by=OTHER)
    assert [True] == [value >= 0 for value in of("uid", one)]


def test_record_ids_of_a_file_agree():
    """A file has one id wherever it stands, and no file, which is 0, stays none."""
    assert of("file_id", 7, 0, None) == of("parent_file_id", 7, 0, None) == of("renamed_from_id", 7, 0, None)
    assert [0, None] == of("file_id", 0, None)


@pytest.mark.proof
@given(st.one_of(st.from_regex(r"\A[0-9]{1,12}([.:_@][a-z0-9.:@\n]{0,9})?\Z"), TEXTS))
def test_jobs_of_owners_are_found(owner: str):
    """What the view of intervals takes for the job of an owner is the pseudonym of what it took before."""
    with duckdb.connect() as con:

        def job_of(text: object) -> str:
            return con.execute("SELECT regexp_extract($1, '^([0-9]+)([.:_@].*)?$', 1)", [text]).fetchone()[0]

        assert of("job_id", job_of(owner)) == [job_of(of("owner", owner)[0])]


def test_names_in_place_of_jobs():
    """A neighbour is a user, or what Lustre has for a job: each as where it comes from."""
    assert [*of("user", "ann"), *of("owner", "4100001", "dd.20001")] == of("neighbour", "ann", "4100001", "dd.20001")


def test_lists_and_labels_are_replaced():
    """Whatever Arrow keeps them in, names become what they become as texts."""
    a, b = of("straggler_host", "nid1", "nid2")
    assert [[a, b], None, []] == of("hosts", ["nid1", "nid2"], None, [])
    parts = [pa.array(part).dictionary_encode() for part in (["nid1", None], ["nid2", "nid1"])]
    labels = pa.chunked_array([part.cast(FIELDS["host"].type) for part in parts])
    assert [a, None, b, a] == ONE.rows(pa.table({"host": labels}))["host"].to_pylist()


def test_findings_keep_all_but_the_names():
    """Numbers in a finding stay; names become what they are in their own column; what no trigger says is replaced whole."""
    text = "/home/ann/x.h5"
    finding = TRIGGERS["POSIX-101"].finding.format(
        **dict.fromkeys(("small_read_count", "read_count"), 5000),
        small_read_ratio=0.5,
        small_read_seconds_ratio=0.25,
        small_read_path=text,
    )
    given_rows = pa.table(
        {"code": ["POSIX-101", "POSIX-101", "POSIX-999", "P05"], "finding": [finding, "ann reads", finding, None]}
    )
    first, second, third, fourth = ONE.rows(given_rows)["finding"].to_pylist()
    assert finding.replace(text, of("path", text)[0]) == first
    assert [word("ann reads"), word(finding), None] == [second, third, fourth]


def test_evidence_of_triggers_names_nobody():
    """What a verdict was worked out from is a word of this program, so it may stay."""
    fields = [FIELDS[trigger.evidence] for trigger in TRIGGERS.values() if trigger.evidence]
    assert {Privacy.OPEN} == {entry.privacy for entry in fields}


def test_a_field_that_nobody_decided_of_is_refused(monkeypatch: pytest.MonkeyPatch):
    """A text without a decision ends the export instead of leaving the house."""
    monkeypatch.setitem(FIELDS, "user", replace(FIELDS["user"], privacy=None))
    with pytest.raises(ValueError, match="the field user needs a privacy rule"):
        of("user", "ann")
