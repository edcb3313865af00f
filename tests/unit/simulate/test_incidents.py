"""Incidents can be seen in the data, where and when the truth says."""

import csv
from collections.abc import Callable
from statistics import median

from conftest import Facility

from iomine.sources.darshan import read_log


def usecs_per_call(facility: Facility, kind: str, target: str, ops: tuple[str, ...], is_wanted: Callable[[float], bool]) -> float:
    """Mean time of a call on a target in the minutes that are wanted."""
    samples = usecs = 0
    last: dict[str, int] = {}
    for path in sorted((facility.out / "lustre" / "series").glob(f"lustre_{kind}.*.csv")):
        with path.open(newline="") as file:
            for row in csv.DictReader(file):
                if row[kind] == target:
                    now = {f"{op}_{what}": int(row[f"{op}_{what}"]) for op in ops for what in ("samples", "usecs")}
                    if is_wanted(float(row["#Time"]) - 60):
                        samples += sum(now[f"{op}_samples"] - last.get(f"{op}_samples", 0) for op in ops)
                        usecs += sum(now[f"{op}_usecs"] - last.get(f"{op}_usecs", 0) for op in ops)
                    last = now
    return usecs / samples


def test_a_storm_slows_metadata_of_its_mdt(facility: Facility) -> None:
    """Calls on the MDT take several times as long while the storm lasts as they do otherwise."""
    storm = facility.incidents["metadata_storm"]
    target = f"scratch-MDT{storm['target']:04x}"

    def mean(is_wanted: Callable[[float], bool]) -> float:
        return usecs_per_call(facility, "mdt", target, ("open", "getattr"), is_wanted)

    during = mean(lambda at: storm["start"] <= at < storm["end"])
    before = mean(lambda at: at < storm["start"] - 60)
    assert during > 0.5 * storm["factor"] * before


def test_a_hot_ost_is_slow(facility: Facility) -> None:
    """Writes to the OST take several times as long while it is hot as they do otherwise."""
    hot = facility.incidents["hot_ost"]
    target = f"scratch-OST{hot['target']:04x}"

    def mean(is_wanted: Callable[[float], bool]) -> float:
        return usecs_per_call(facility, "ost", target, ("write",), is_wanted)

    assert mean(lambda at: hot["start"] <= at < hot["end"]) > 3 * mean(lambda at: not hot["start"] <= at < hot["end"] + 3600)


def test_culprits_run_while_their_incidents_last(facility: Facility) -> None:
    """Each culprit has logs, and all of their jobs were submitted in the time of its incident."""
    for kind in ("hot_ost", "metadata_storm"):
        incident = facility.incidents[kind]
        moments = [facility.submitted()[log["job_id"]] for log in facility.logs if log["lineage"] == incident["lineage"]]
        assert moments
        assert all(incident["start"] - 1 <= at < incident["end"] for at in moments)


def _by_date(facility: Facility, kind: str) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """Logs of an application before and after the incident that changed it."""
    incident, submitted = facility.incidents[kind], facility.submitted()
    parts: tuple[list[dict[str, object]], list[dict[str, object]]] = ([], [])
    for log in facility.logs:
        if log["lineage"] == incident["lineage"]:
            parts[submitted[log["job_id"]] >= incident["start"]].append(log)
    assert all(parts)
    return parts


def test_a_regression_is_a_step(facility: Facility) -> None:
    """From its date on, the application makes many times as many requests for as many bytes, and takes longer for them."""
    before, after = _by_date(facility, "regression")
    assert {()} == {tuple(log["patterns"]) for log in before}  # type: ignore[arg-type]
    assert {("misaligned", "small_reads", "small_writes")} == {tuple(log["patterns"]) for log in after}  # type: ignore[arg-type]

    def seconds_per_byte(logs: list[dict[str, object]]) -> float:
        found = []
        for log in logs:
            parts = read_log(facility.path(log)).tables["posix_file"]
            seconds = sum(float(part[f"{op}_seconds"].to_numpy().sum()) for part in parts for op in ("read", "write"))
            found.append(seconds / (log["read_bytes"] + log["write_bytes"]))  # type: ignore[operator]
        return median(found)

    assert seconds_per_byte(after) > 2 * seconds_per_byte(before)


def test_advice_that_is_followed_ends_its_patterns(facility: Facility) -> None:
    """Until the date rank 0 does all, from then on nothing is wrong."""
    before, after = _by_date(facility, "advice_followed")
    assert {("rank0_reads", "rank0_writes", "unbalanced_ranks")} == {tuple(log["patterns"]) for log in before}  # type: ignore[arg-type]
    assert {()} == {tuple(log["patterns"]) for log in after}  # type: ignore[arg-type]


def test_slow_ranks_lie_behind_the_degraded_link(facility: Facility) -> None:
    """Ranks are slow only in runs that began while the link was bad, on nodes of its leaf switch."""
    link = facility.incidents["degraded_link"]
    slow = [log for log in facility.logs if log["slow_ranks"]]
    assert slow
    for log in slow:
        assert link["start"] <= read_log(facility.path(log)).job.start_at.timestamp() < link["end"]
