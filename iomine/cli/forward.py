"""`iomine forward`: what gathering requests and files would change for a log, or for each log of a job."""
# ruff: noqa: PLC0415

import json
import math
import re
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from iomine.cli.meant import LogOrJob, meant
from iomine.cli.options import DEFAULT_WAREHOUSE, Format, OnlyCluster, Warehouse, database_of
from iomine.errors import UsageError
from iomine.units import bytes_of, seconds_of

if TYPE_CHECKING:
    from iomine.cli.terminal.forwarding import Asked, Change
    from iomine.derive.coalesce import Window

_RATIO: Final = re.compile(r"1:([0-9]{1,9})")
_NUMBER: Final = re.compile(r"[0-9]{1,9}")
_HAS_UNIT: Final = re.compile(r"[a-z]", re.IGNORECASE)
_SHOWN: Final = (
    *(
        "layer",
        "mount",
        "access",
        "op",
        "mapping",
        "forwarder_count",
        "window_seconds",
        "merge_mode",
        "request_count",
        "left_count",
    ),
    *("left_mean_bytes", "stripe_client_count", "left_stripe_client_count", "held_bytes", "gathering_core_seconds"),
)
_MOST_BYTES: Final = 1 << 60


def command(
    what: LogOrJob,
    *,
    forwarders: Annotated[
        str | None,
        typer.Option("--forwarders", metavar="N|host|1:RATIO", help="How many: N, one per host, or one per RATIO ranks."),
    ] = None,
    window: Annotated[
        str | None, typer.Option("--window", metavar="TIME|tick", help="How long requests are held; tick: collective calls.")
    ] = None,
    cap: Annotated[
        str | None, typer.Option("--cap", metavar="SIZE", help="Largest piece that is sent at once.", show_default="4MiB")
    ] = None,
    stripe: Annotated[
        str | None, typer.Option("--stripe", metavar="SIZE", help="Stripe of all files.", show_default="as laid out, else 1MiB")
    ] = None,
    within: Annotated[
        str | None,
        typer.Option("--within", metavar="TIME", help="Time within which files must be written.", show_default="as they were"),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")] = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show what gathering requests and files would change for a log.

    Forwarders stand between ranks and file system: each gathers what some ranks ask for, merges what touches, and sends it on in
    large pieces. MPI-IO's aggregators, HDF5 subfiling and ADIOS2 do the same, and the advice says how to set them. Sizes and
    times have units: 4MiB, 10ms. For a job it shows each log.
    """
    from iomine.cli.terminal.forwarding import change_of
    from iomine.cli.terminal.questions import ask_own

    asked = _asked(forwarders, window, cap, stripe, within)
    database = database_of(warehouse)
    places = meant(database, what, cluster).places(database)
    changes = [change_of(partial(ask_own, database), place, asked) for place in places]
    if as_json:
        typer.echo(json.dumps({"logs": [asdict(change) for change in changes]}))
    else:
        for change in changes:
            _show(change)


def _show(change: "Change") -> None:
    import pyarrow as pa

    from iomine.cli.terminal.formats import write
    from iomine.units import visible

    for text in (*change.says, *change.advice):
        typer.echo(visible(f"# {change.log_id}: {text}"))
    for rows, columns in ((change.forwarding, _SHOWN), (change.files, None)):
        if rows:
            table = pa.Table.from_pylist(rows)
            typer.echo()
            write(table.select(columns) if columns else table, Format.TABLE, whole="--json")
    typer.echo()


def _asked(forwarders: str | None, window: str | None, cap: str | None, stripe: str | None, within: str | None) -> "Asked":
    """What the options say.

    Raises:
        UsageError: an option has a value that makes no sense.
    """
    from iomine.cli.terminal.forwarding import Asked
    from iomine.derive.coalesce import CAP_BYTES, STRIPE_BYTES

    cap_bytes, stripe_bytes = _bytes("--cap", cap), _bytes("--stripe", stripe)
    most, step = cap_bytes or CAP_BYTES, stripe_bytes or STRIPE_BYTES
    if (cap or stripe) and most % step:
        raise UsageError(f"The cap, {most:,} bytes, is not a multiple of the stripe, {step:,} bytes: change --cap or --stripe.")
    return Asked(*_forwarders(forwarders), _window(window), cap_bytes, stripe_bytes, _seconds("--within", within))


def _forwarders(text: str | None) -> tuple[str | None, int | None, int | None]:
    """Mapping, number of forwarders, and ranks to one."""
    if text is None:
        return None, None, None
    if text == "host":
        return "host", None, None
    if (match := _RATIO.fullmatch(text)) and int(match[1]):
        return "blocks", None, int(match[1])
    if _NUMBER.fullmatch(text) and int(text):
        return "blocks", int(text), None
    raise UsageError(f"--forwarders: {text!r} is no number of forwarders: write it as 16, host or 1:12.")


def _window(text: str | None) -> "Window | None":
    from iomine.derive.coalesce import TICK

    return TICK if text == TICK else _seconds("--window", text)


def _seconds(option: str, text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = seconds_of(text)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from error
    if not 0 < seconds < math.inf:
        raise UsageError(f"{option}: {text!r} is not a usable time: give one above zero, such as 1s.")
    return seconds


def _bytes(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        count = bytes_of(text)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{option}: {text!r} is no number of bytes: write it as 4MiB.") from error
    if not (_HAS_UNIT.search(text) and 0 < count < _MOST_BYTES):
        raise UsageError(f"{option}: {text!r} is no size above zero with a unit: write it as 4MiB.")
    return count
