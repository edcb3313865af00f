"""What the ledger says reaches the views, whatever else is at work and wherever it is killed."""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from post_office import NIGHT, NOW, Books, entry, mail_to, office

from iomine.lake import LakeWriter, Warehouse, write_file
from iomine.pipeline.export.pseudonyms import Pseudonyms
from iomine.pipeline.mails import mail_file, show_mails
from iomine.pipeline.publish import publish
from iomine.post.deliver import deliver
from iomine.post.ledger import Ledger
from iomine.post.tokens import Action
from iomine.post.transports import Outcome
from iomine.schema.registry import arrow_schema
from iomine.views.query import ask

TODAY = NOW.date()


@pytest.fixture
def warehouse(tmp_path: Path) -> Warehouse:
    """A warehouse whose one sweep found nothing."""
    made = Warehouse(tmp_path / "warehouse")
    made.create()
    row = {
        "sweep_id": "0" * 32,
        "cluster": "blue",
        "end_at": datetime(2026, 11, 21, tzinfo=UTC),
        "table_versions": json.dumps({}),
    }
    sweeps = pa.Table.from_pylist([row], schema=arrow_schema("sweep"))
    LakeWriter(made.lake, tmp_path).commit("sweep", [write_file(tmp_path, "sweep", sweeps)], "0" * 32)
    publish(made)
    return made


@pytest.fixture
def ledger(warehouse: Warehouse) -> Iterator[Ledger]:
    with Ledger(warehouse.root / "digest.sqlite") as ledger:
        yield ledger


def shown(warehouse: Warehouse, columns: str) -> list[dict[str, Any]]:
    query = f"SELECT {columns} FROM mails ORDER BY composed_at, recipient, mail_part, code"
    return ask(warehouse.database, query).to_pylist()


def test_what_was_mailed_and_answered_is_shown(warehouse: Warehouse, ledger: Ledger):
    """Each finding that a mail lists is a row: sent or refused, as an entry, a sign or praise, with the answer to its link."""
    praised = entry("ada", "RANK-302").subject
    reported = mail_to("ada", replace(entry("ada"), signs=("POSIX-102",)), better=(praised,))
    books = Books(plan=lambda mail: Outcome("refused", "550 no") if mail.address.startswith("bob") else Outcome("sent", "250 ok"))
    deliver([reported, mail_to("bob"), mail_to("operator", kind="operator")], office(ledger, books, operators=("ops@site.test",)))
    ledger.wish(Action("snooze", "user", "ada", reported.entries[0].subject.key, 30), TODAY + timedelta(days=1))
    assert show_mails(warehouse, ledger, ())
    one = {"cluster": "blue", "user": "ada", "application": "lmp", "mail_state": "sent", "told_night": TODAY, "answer": None}
    columns = 'recipient, mail_part, code, cluster, "user", application, mail_state, told_night, answer'
    assert [
        one | {"recipient": "ada", "mail_part": "better", "code": "RANK-302"},
        one | {"recipient": "ada", "mail_part": "entry", "code": "POSIX-101", "answer": "snooze"},
        one | {"recipient": "ada", "mail_part": "sign", "code": "POSIX-102"},
        one
        | {
            "recipient": "bob",
            "mail_part": "entry",
            "code": "POSIX-101",
            "user": "bob",
            "mail_state": "failed",
            "told_night": None,
        },
        dict.fromkeys(one) | {"mail_state": "sent", "told_night": TODAY, "recipient": None, "mail_part": None, "code": None},
    ] == shown(warehouse, columns)
    assert [{"last_night": NIGHT, "sent_at": NOW, "mail_reply": "250 ok", "answer_night": TODAY + timedelta(days=1)}] == [
        row for row in shown(warehouse, "last_night, sent_at, mail_reply, answer_night") if row["answer_night"]
    ]


def test_pseudonyms_leave_no_name_of_a_mail(ledger: Ledger, tmp_path: Path):
    """An anonymised table has no name, id or reply of a mail left, and recipients are the same users as elsewhere in it."""
    deliver([mail_to("ada"), mail_to("chem042", kind="project")], office(ledger, Books(), investigators={"chem042": "ada"}))
    mails = pq.read_table(mail_file(tmp_path, ledger).path)
    away = Pseudonyms(bytes(32)).rows(mails)
    named = {
        text for name in ("message_id", "recipient", "user", "application", "mail_reply") for text in mails[name].to_pylist()
    }
    left = {text for column in away.columns if pa.types.is_string(column.type) for text in column.to_pylist()}
    assert set() == named & left
    assert 2 == len(named & {"ada", "chem042"})
    assert away["recipient"][0] == away["user"][0] != away["recipient"][1]


def test_only_what_was_asked_since_answers_a_mail(warehouse: Warehouse, ledger: Ledger):
    """A later mail is not answered by what was asked before it; to want none at all answers all before, except for links."""
    deliver([mail_to("ada")], office(ledger))
    key = entry("ada").subject.key
    ledger.wish(Action("acknowledge", "user", "ada", key), TODAY)
    later = NOW + timedelta(days=20)
    deliver([mail_to("ada", entry("ada", "RANK-302"))], office(ledger, now=later))
    ledger.wish(Action("stop", "user", "ada"), later.date() + timedelta(days=1))
    assert show_mails(warehouse, ledger, ())
    answers = [(row["code"], row["answer"], row["answer_night"]) for row in shown(warehouse, "code, answer, answer_night")]
    assert [("POSIX-101", "acknowledge", TODAY), ("RANK-302", "stop", later.date() + timedelta(days=1))] == answers


def test_a_sweep_at_work_is_not_waited_for(warehouse: Warehouse, ledger: Ledger):
    """While a sweep holds the warehouse nothing is shown and nothing fails; the next digest shows all of it."""
    deliver([mail_to("ada")], office(ledger))
    with warehouse.locked():
        assert not show_mails(warehouse, ledger, ())
    assert [] == shown(warehouse, "code")
    assert show_mails(warehouse, ledger, ())
    assert [{"code": "POSIX-101"}] == shown(warehouse, "code")


@pytest.mark.proof
@pytest.mark.parametrize("killed_at", ["mail", "sweep", "publish"])
def test_killed_anywhere_it_is_shown_by_the_next(warehouse: Warehouse, ledger: Ledger, killed_at: str):
    """Readers see what was there before, and the next digest shows both mails."""
    deliver([mail_to("ada")], office(ledger))
    assert show_mails(warehouse, ledger, ())
    deliver([mail_to("bob")], office(ledger))
    commit = LakeWriter.commit

    def dies(lake: LakeWriter, name: str, *rest: Any) -> None:
        if name == killed_at:
            raise KeyboardInterrupt
        commit(lake, name, *rest)

    with (
        patch.object(LakeWriter, "commit", dies),
        patch("iomine.pipeline.mails.publish", Mock(side_effect=KeyboardInterrupt) if killed_at == "publish" else publish),
        pytest.raises(KeyboardInterrupt),
    ):
        show_mails(warehouse, ledger, ())
    assert [{"recipient": "ada"}] == shown(warehouse, "recipient")
    assert show_mails(warehouse, ledger, ())
    assert [{"recipient": "ada"}, {"recipient": "bob"}] == shown(warehouse, "recipient")


def test_what_was_never_swept_is_left_alone(warehouse: Warehouse, ledger: Ledger):
    """Views over files that are no lake, as of an export, stay as they are."""
    deliver([mail_to("ada")], office(ledger))
    (warehouse.root / "lake").rename(warehouse.root / "other")
    before = warehouse.database.read_bytes()
    assert not show_mails(warehouse, ledger, ())
    assert before == warehouse.database.read_bytes()


def test_an_older_ledger_is_taken_over(tmp_path: Path):
    """What version 1 had as mailed still is, and its mails are shown with what it knew."""
    file = tmp_path / "digest.sqlite"
    key = entry("ada").subject.key
    with sqlite3.connect(file) as old:
        old.executescript(f"""
            CREATE TABLE letter (
                message_id TEXT PRIMARY KEY, kind TEXT NOT NULL, recipient TEXT NOT NULL, address TEXT NOT NULL,
                state TEXT NOT NULL, mail BLOB, last_night TEXT NOT NULL, composed_at TEXT NOT NULL, changed_at TEXT NOT NULL,
                tries INTEGER NOT NULL DEFAULT 0, reply TEXT NOT NULL DEFAULT ''
            ) STRICT;
            CREATE TABLE told (
                message_id TEXT NOT NULL, key TEXT NOT NULL, is_better INTEGER NOT NULL, title TEXT NOT NULL,
                application TEXT NOT NULL, PRIMARY KEY (message_id, key, is_better)
            ) STRICT;
            CREATE TABLE wish (
                kind TEXT NOT NULL, recipient TEXT NOT NULL, verb TEXT NOT NULL, key TEXT NOT NULL, day TEXT NOT NULL,
                until TEXT NOT NULL, PRIMARY KEY (kind, recipient, verb, key)
            ) STRICT;
            INSERT INTO letter VALUES
                ('<1@x>', 'user', 'ada', 'ada@x', 'sent', NULL, '2026-11-20', '{NOW.isoformat()}', '{NOW.isoformat()}', 1, '');
            INSERT INTO told VALUES ('<1@x>', '{key}', 0, 'Title', 'lmp'), ('<1@x>', 'other', 1, '', 'lmp');
            PRAGMA user_version = 1;
        """)
    with Ledger(file) as ledger:
        assert {key: TODAY} == ledger.mailed("user", "ada")
        assert {"other": TODAY} == ledger.praised("user", "ada")
        assert ("Title", "lmp") == ledger.title(Action("snooze", "user", "ada", key, 30))
        parts = [(row["mail_part"], row["application"], row["code"], row["cluster"]) for row in ledger.mails()]
        assert [("entry", "lmp", None, None), ("better", "lmp", None, None)] == parts
    with Ledger(file) as again:
        assert {key: TODAY} == again.mailed("user", "ada")
        assert {"ada": date(2026, 11, 20)} == again.last_nights("user")
