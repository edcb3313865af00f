"""`iomine status`: what the warehouse holds and how the last sweeps went."""
# ruff: noqa: PLC0415

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, Format, Warehouse, database_of
from iomine.units import counted, json_line, visible

if TYPE_CHECKING:
    import pyarrow as pa

_SECTIONS: Final = ("holds", "sweeps", "rejects", "failed")
# Of a sweep's columns, those that a narrow terminal shows.
_OF_SWEEPS: Final = ("cluster", "start_at", "found_count", "ingested_count", "rejected_count", "known_count")


def command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show what the warehouse holds and how the last sweeps went."""
    from iomine.cli.terminal.questions import ask_own
    from iomine.views.encode import records
    from iomine.views.questions import question

    answers = {name: ask_own(database_of(warehouse), question(f"status/{name}")) for name in _SECTIONS}
    holds = next(records(answers["holds"]))
    answers["kept"] = _kept(warehouse)
    archive = _archive(warehouse)
    if as_json:
        tables = {name: list(records(answers[name])) for name in ("sweeps", "rejects", "failed", "kept")}
        typer.echo(json_line({"warehouse": str(warehouse.resolve()), "holds": holds, "archive": archive, **tables}))
        return
    _print(warehouse, holds)
    if archive:
        count = archive["log_count"]
        typer.echo(visible(f"{archive['path']} has {'no index' if count is None else counted(count, 'packed log')}."))
    _show("Last sweeps", answers["sweeps"], _OF_SWEEPS)
    _show("Rejects by reason", answers["rejects"])
    if answers["failed"].num_rows:
        _show("Failed derivations", answers["failed"])
    if answers["kept"].num_rows:
        _show("Not kept for ever, but by sweeps from", answers["kept"])


def _kept(warehouse: Path) -> "pa.Table":
    """The first night whose rows are kept, by cluster and by table that is not kept for ever."""
    import pyarrow as pa

    from iomine.cli.terminal.questions import ask_own
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.site.retention import kept_from, site_retention
    from iomine.views.questions import question

    days = site_retention(Folder(warehouse))
    newest = ask_own(database_of(warehouse), question("status/newest_nights")).to_pylist()
    today = datetime.now(UTC).date()
    rows = [
        {"table_name": table, "cluster": row["cluster"], "first_night": kept_from(row["night"], count, today)}
        for table, count in sorted(days.items())
        for row in newest
    ]
    schema = pa.schema([("table_name", pa.string()), ("cluster", pa.string()), ("first_night", pa.date32())])
    return pa.Table.from_pylist(rows, schema)


def _archive(warehouse: Path) -> dict[str, Any] | None:
    """The archive into which the site has old logs packed, and how many its index names; None where there is none."""
    from iomine.lake import Warehouse as Folder
    from iomine.pipeline.packing import packed_count
    from iomine.pipeline.site.retention import site_packing

    packing = site_packing(Folder(warehouse))
    return {"path": packing.into, "log_count": packed_count(Path(packing.into))} if packing.after_days else None


def _print(warehouse: Path, holds: dict[str, Any]) -> None:
    span = f" ({holds['first_night']} to {holds['last_night']})" if holds["first_night"] else ""
    logs, nights, findings, rejects = (counted(holds[f"{what}_count"], what) for what in ("log", "night", "finding", "reject"))
    typer.echo(visible(f"{warehouse.resolve()} holds {logs} of {nights}{span}, {findings} and {rejects}."))
    if packed := holds["packed_count"]:
        typer.echo(f"{packed:,} of its logs {'was' if packed == 1 else 'were'} read from an archive.")
    if holds["failed_count"]:
        typer.echo(f"{counted(holds['failed_count'], 'derivation')} of its logs failed.")


def _show(title: str, answer: "pa.Table", important: Sequence[str] = ()) -> None:
    from iomine.cli.terminal.formats import write_for_people

    typer.echo(f"\n{title}: none" if not answer.num_rows else f"\n{title}")
    if answer.num_rows:
        write_for_people(answer, Format.TABLE, important, whole="--json")
