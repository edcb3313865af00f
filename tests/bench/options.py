"""What a run is asked to measure, and what an earlier run has measured already."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure.

    Attributes:
        data: folder of the sets of real logs.
        cache: folder for peers, simulated logs and what was measured.
        resume: take what is kept there for measured.
        rounds: runs of each; the median counts.
        history: logs of the history that is judged.
        night: logs of the night that is judged.
        requests: traced requests of the longest log.
        largest: logs of the largest sweep.
        shared_night: logs of the night that two workers share.
        year: logs of the year that views are asked about.
        packed: logs of the largest archive of packed ones.
        known: known logs that are found once more.
        archive: logs of the largest archive of older formats.
        nights: how many are swept one after the other.
        kills: how often that is killed.
    """

    data: Path
    cache: Path
    resume: bool
    rounds: int
    history: int
    night: int
    requests: int
    largest: int
    shared_night: int
    year: int
    packed: int
    known: int
    archive: int
    nights: int
    kills: int


def kept(options: Options, name: str, measure: Callable[[], Any]) -> Any:
    """What was measured under this name: by an earlier run, if that is to be resumed, or now."""
    file = options.cache / "measured" / f"{name}.json"
    if not (options.resume and file.exists()):
        start = time.perf_counter()
        found = measure()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
        sys.stderr.write(f"{name}: measured in {time.perf_counter() - start:.0f} s\n")
    return json.loads(file.read_text())
