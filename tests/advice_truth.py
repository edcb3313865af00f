"""How often followed advice is recognised: simulated facilities, in each of which one user is known to follow it.

`python tests/advice_truth.py [SEED...]` simulates facilities, reads and judges their logs as a sweep does, sends a digest on the
morning after each night, and writes docs/advice_truth.md. Servers are not asked, so no system state excuses anything.
"""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Self
from unittest.mock import patch

from catalogs import catalog_of
from lineage_truth import CLUSTER, DAYS, JUDGES, LOGS, files_of

from iomine.lake import LakeFile
from iomine.pipeline import digest as digest_room
from iomine.pipeline.digest import Order, digest
from iomine.pipeline.judging.judge import judge
from iomine.pipeline.mails import mail_file
from iomine.post.ledger import Ledger
from iomine.simulate import Settings, simulate
from iomine.sources.darshan import read_log
from iomine.views.query import ask

PAGE: Final = Path(__file__).parents[1] / "docs" / "advice_truth.md"
SEEDS: Final = range(20)
_MORNING: Final = time(7, tzinfo=UTC)
# What these programs lose is little; a site would not write mails about it.
SETTINGS: Final = "least_core_hours = 0.0\n"
_HEADS: Final = (
    *("seed", "mails", "first to the follower", "change", "gone", "other outcomes", "others' findings", "of these gone"),
    *("slowest rank's pace", "run's pace", "summed pace", "outcomes without mails"),
)


@dataclass(frozen=True, slots=True)
class Reported:
    """What was reported of a facility, and what is true of it.

    Attributes:
        seed: of the facility.
        mails: mails that went out in all.
        mailed: date of the first mail to the follower that lists what rank 0 does for all; empty where none does.
        changed: date on which the follower follows.
        gone: the follower's findings that are `gone` in `advice_outcomes`.
        other: those of its findings that have another outcome.
        others: findings of others that were mailed.
    others_gone: of these, those that are `gone`.
        slowest_rank_pace: I/O time of the slowest rank for a byte, after over before.
        run_pace: length of the run for a byte, after over before.
        summed_pace: I/O time summed over ranks for a byte, after over before, which decides nothing.
        unmailed: outcomes other than `not told` where no mail went out.
    """

    seed: int
    mails: int
    mailed: str
    changed: str
    gone: int
    other: int
    others: int
    others_gone: int
    slowest_rank_pace: str
    run_pace: str
    summed_pace: str
    unmailed: int


class _Morning(datetime):
    """A clock that stands still."""

    at: datetime

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return cls.fromtimestamp(cls.at.timestamp(), tz)


def reported(seeds: Iterable[int]) -> Iterator[Reported]:
    """What is reported of facilities."""
    for seed in seeds:
        with TemporaryDirectory() as folder:
            yield _reported(seed, Path(folder))


def _reported(seed: int, folder: Path) -> Reported:
    out = folder / "facility"
    simulate(Settings(out, LOGS, seed, DAYS, CLUSTER, dxt_ratio=0), lambda *_: None)
    truth = [json.loads(line) for line in (out / "truth" / "logs.jsonl").open()]
    funnels = {log["lineage"] for log in truth if log["archetype"] == "rank0_funnel"}
    paths = sorted(log["log"] for log in truth if log["lineage"] in funnels)
    files = files_of(folder / "lake", ((CLUSTER, read_log(out / path), path) for path in paths))
    judged = judge((), folder / "staging", files, JUDGES).files
    return counted(seed, out, folder, [*files, *judged])


def counted(seed: int, out: Path, folder: Path, files: Sequence[LakeFile]) -> Reported:
    """What is reported of a facility that was read and judged, with a digest after each night."""
    mails = mailed_nightly(folder, files)
    truth = [json.loads(line) for line in (out / "truth" / "logs.jsonl").open()]
    incidents = {each["kind"]: each for each in json.loads((out / "truth" / "incidents.json").read_text())["incidents"]}
    follower = incidents["advice_followed"]
    paths = {log["log"] for log in truth if log["lineage"] == follower["lineage"]}
    without = ask(catalog_of(folder, files), "FROM advice_outcomes").to_pylist()
    database = catalog_of(folder, [*files, mails])
    of_log = {row["path"]: row for row in ask(database, "FROM logs").to_pylist()}
    lineages = {of_log[path]["lineage_id"] for path in paths}
    outcomes = ask(database, "FROM advice_outcomes WHERE outcome <> 'not told'").to_pylist()
    mine = [row for row in outcomes if row["lineage_id"] in lineages]
    gone = [row for row in mine if row["outcome"] == "gone"]
    changed = datetime.fromtimestamp(follower["start"], UTC)
    paces: dict[bool, list[float]] = {False: [], True: []}
    for path in paths:
        log = of_log[path]
        archetype = next(each["archetype"] for each in truth if each["log"] == path)
        paces[archetype != "rank0_funnel"].append(log["io_core_seconds"] / (log["read_bytes"] + log["write_bytes"]))
    return Reported(
        seed,
        ask(database, "SELECT count(DISTINCT message_id) AS count FROM mails WHERE mail_state = 'sent'")["count"][0].as_py(),
        min((str(row["told_night"]) for row in mine), default=""),
        str(changed.date()),
        len(gone),
        len(mine) - len(gone),
        len(outcomes) - len(mine),
        sum(row["outcome"] == "gone" for row in outcomes) - len(gone),
        _shown(max((row["slowest_rank_pace_ratio"] for row in gone), default=None)),
        _shown(max((row["run_pace_ratio"] for row in gone), default=None)),
        _shown(_median(paces[True]) / _median(paces[False]) if all(paces.values()) else None),
        sum(row["outcome"] != "not told" for row in without),
    )


def mailed_nightly(folder: Path, files: Sequence[LakeFile]) -> LakeFile:
    """The table of mails, once a digest has gone out on the morning after each night."""
    site = folder / "site"
    site.mkdir()
    (site / "digest.toml").write_text(SETTINGS)
    for night in sorted({file.night for file in files if file.table == "log" and file.night}):
        catalog_of(site, [file for file in files if file.night is None or file.night <= night])
        _send(site, night)
    with Ledger(site / "digest.sqlite") as ledger:
        return mail_file(folder / "lake", ledger)


def _send(site: Path, night: date) -> None:
    clock = type("Clock", (_Morning,), {"at": datetime.combine(night + timedelta(days=1), _MORNING)})
    with patch.object(digest_room, "datetime", clock):
        digest(Order(site, outbox=site / "outbox"))


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]


def _shown(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.2f}"


def page(rows: Sequence[Reported]) -> str:
    """The text of docs/advice_truth.md."""
    about = (
        f"{len(rows)} simulated facilities of {LOGS:,} logs in {DAYS} days. In each, the user of one application follows advice "
        "from a moment on: rank 0 no longer reads and writes for all, but all do so in collective calls. All applications in "
        "which rank 0 does all are read, the others are left out. A digest goes out on the morning after each night, also about "
        "what costs less than a site would write mails about. Servers are not asked, so no system state excuses anything."
    )
    found = _part(sum(row.gone > 0 for row in rows), len(rows))
    before = _part(sum(bool(row.mailed) and row.mailed <= row.changed for row in rows), len(rows))
    others = _part(sum(row.others_gone for row in rows), sum(row.others for row in rows))
    lines = [
        "# How often followed advice is recognised",
        "",
        "<!-- Written by tests/advice_truth.py. -->",
        "",
        about,
        "",
        f"- **Followers** that are `gone` in `advice_outcomes`: {found}. By the day of the change a mail had listed {before}.",
        f"- **Others**, who went on as before: {others} findings that mails listed are `gone`.",
        f"- **Without mails** {sum(row.unmailed for row in rows)} outcomes are other than `not told`.",
        "",
        "Paces are the follower's after the change over before, for a byte: the I/O time of the slowest rank, the length of the",
        "run, and the I/O time summed over ranks, which decides nothing.",
        "",
        f"| {' | '.join(_HEADS)} |",
        f"| {' | '.join('---' for _ in _HEADS)} |",
    ]
    lines += [f"| {' | '.join(str(getattr(row, field.name)) for field in fields(Reported))} |" for row in rows]
    return "\n".join([*lines, ""])


def _part(part: int, whole: int) -> str:
    return f"{part} of {whole}"


def main() -> None:
    """Writes the page, or shows it for some seeds."""
    seeds = [int(seed) for seed in sys.argv[1:]] or SEEDS
    text = page(list(reported(seeds)))
    if len(sys.argv) > 1:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.nice(5)
    main()
