"""Publishes the digest's ledger as a view: which mail listed which finding for whom, and what the reader asked for since."""

from collections.abc import Iterable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from iomine.errors import BusyError
from iomine.lake import LakeFile, Warehouse, write_file
from iomine.pipeline.between import commit, to_be_written
from iomine.pipeline.publish import publish
from iomine.post.ledger import Ledger
from iomine.schema.registry import arrow_schema
from iomine.triggers.model import Trigger


def show_mails(warehouse: Warehouse, ledger: Ledger, triggers: Iterable[Trigger]) -> bool:
    """Commits the whole ledger as the table `mail`, and publishes it.

    The ledger remains the reference: if this process is killed at any point, the next digest shows all of it.

    Args:
        warehouse: whose ledger it is.
        ledger: the ledger.
        triggers: what the warehouse's logs were judged by.

    Returns:
        False where a sweep is at work, so that the next digest has to show it, or where no sweep has committed anything.

    Raises:
        WarehouseError: files cannot be read or written.
    """
    try:
        with to_be_written(warehouse) as (lake, staging):
            # What was not swept, such as an export, is no lake.
            if not lake.snapshot.versions:
                return False
            commit(lake, staging, [mail_file(staging, ledger)])
            publish(warehouse, triggers, lake.snapshot)
    except BusyError:
        return False
    return True


def mail_file(folder: Path, ledger: Ledger) -> LakeFile:
    """The ledger as the table `mail`."""
    return write_file(folder, "mail", pa.Table.from_pylist(list(map(_row, ledger.mails())), schema=arrow_schema("mail")))


def _row(row: dict[str, str | None]) -> dict[str, Any]:
    sent_at = _moment(row["sent_at"])
    return {
        **row,
        "recipient": None if row["mail_kind"] in {"operator", "notice"} else row["recipient"],
        # An empty text means none.
        **{name: row[name] or None for name in ("mail_reply", "application")},
        "composed_at": _moment(row["composed_at"]),
        "sent_at": sent_at,
        "told_night": sent_at and sent_at.date(),
        **{name: _day(row[name]) for name in ("last_night", "answer_night")},
    }


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
