"""Writes docs/monitoring.md: what operators see of nights, in Prefect's pages and in figures, with screenshots.

    python tests/monitoring_views.py

Three nights of a simulated facility are swept by the flow `nightly`: one goes well, one has a file that is no log, and the third
finds no log at all, as if a file system had not been mounted.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).parent))
from browser import chromium

from iomine.flows.server import server

REPO: Final = Path(__file__).parents[1]
PAGE: Final = REPO / "docs/monitoring.md"
PICTURES: Final = REPO / "docs/monitoring"
MOST_BYTES: Final = 150_000
_IOMINE: Final = (sys.executable, "-c", "from iomine.cli import main; main()")
_NIGHTS: Final = ("2026-01-05", "2026-01-06", "2026-01-09")
_NIGHTLY: Final = """\
import sys
from datetime import date
from pathlib import Path
from iomine.flows.nightly import nightly
nightly(Path(sys.argv[1]), night=date.fromisoformat(sys.argv[2]))
"""
_CLUSTER: Final = "perseus"
_SETTINGS: Final = """\
[clusters.{cluster}]
logs = ["{logs}/%Y/%-m/%-d"]
"""
_WIDTH, _HEIGHT = 1100, 1100
_SETTLED_MS: Final = 2500
TEXT: Final = """\
# Monitoring, in pictures

<!-- Written by tests/monitoring_views.py: run it after flows or figures changed. -->

This page shows what Prefect and the figures report about three nights of a simulated facility, swept by the flow `nightly` of
`deploy/prefect.yaml`. The first went well. The second had a file that is not a log. The third found no log at all, as if a
file system had not been mounted.

[The operations manual](operations.md) says how to set this up, and [what each sentence asks of you](messages.md).

## Prefect's list of runs

Runs are named by night, and the sweeps within them by cluster and night. The night that failed is red.

![The list of runs](monitoring/runs.png)

## A sweep

Each stage of a sweep is a task, however many logs there are. The artifact `sweep-summary` says what was ingested, and what was
rejected and why. A sweep with rejects is Completed: all readable logs are ingested, and `iomine sql "FROM rejects"` names the
others.

![A run of a sweep with its stages](monitoring/sweep.png)

![What the sweep says of itself](monitoring/summary.png)

## A night that failed

The run's log begins with the sentence that the command line ends with. The sweep within it is Completed, since it swept all that
there was: nothing.

![A run that failed, with the reason](monitoring/failed.png)

## Figures

`iomine metrics`, the file `nightly.metrics` for node_exporter and `/metrics` of `iomine serve` give the same figures in the
OpenMetrics form. An alarm on the age of the newest night also detects a timer that never started, which no failed run reports.
(The nights here were simulated as of January.)

![The figures, as a browser shows them](monitoring/metrics.png)
"""


def main() -> None:
    """Writes the page and its pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, chromium() as browser, server() as (url, _):
        folder = Path(name)
        warehouse = _facility(folder)
        for night in _NIGHTS:
            # Its path is in the pictures.
            _quietly([sys.executable, "-c", _NIGHTLY, warehouse.name, night], warehouse.parent, PREFECT_API_URL=url)
        page = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        take, pages, runs = partial(_take, page), url.removesuffix("/api"), _runs(page, url)
        take(f"{pages}/runs", "runs")
        swept = runs[f"{_CLUSTER}, {_NIGHTS[1]}"]
        take(f"{pages}/runs/flow-run/{swept}", "sweep", 640)
        take(f"{pages}/artifacts/artifact/{_artifact(page, url, swept)}", "summary", 840)
        # What follows the sentence is for the programmer.
        take(f"{pages}/runs/flow-run/{runs[f'night of {_NIGHTS[2]}']}", "failed", 800)
        with _served(warehouse) as address:
            take(f"{address}/metrics", "metrics", 760)
    PAGE.write_text(TEXT, encoding="utf-8")


def _facility(folder: Path) -> Path:
    """A warehouse whose settings name a folder of logs by day."""
    _quietly([*_IOMINE, "simulate", "facility", "--logs", "300", "--days", "2"], folder)
    logs, warehouse = folder / "facility/darshan", folder / "warehouse"
    (logs / "2026/1/6/unfinished.darshan").write_bytes(b"a copy that was cut short")
    warehouse.mkdir()
    (warehouse / "iomine.toml").write_text(_SETTINGS.format(cluster=_CLUSTER, logs=logs), encoding="utf-8")
    return warehouse


def _quietly(command: Sequence[str], folder: Path, **environment: str) -> None:
    """Runs a command in a folder, which may fail: the pictures show whether it did."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=False, **quiet)


def _take(page: Any, address: str, picture: str, height: int = _HEIGHT) -> None:
    """A screenshot of the upper part of a page."""
    page.goto(address)
    page.wait_for_timeout(_SETTLED_MS)
    page.screenshot(path=PICTURES / f"{picture}.png", clip={"x": 0, "y": 0, "width": _WIDTH, "height": height})


def _runs(page: Any, url: str) -> dict[str, str]:
    """Id of each flow's run, by its name."""
    return {run["name"]: run["id"] for run in page.request.post(f"{url}/flow_runs/filter", data={}).json()}


def _artifact(page: Any, url: str, run: str) -> str:
    """Id of the artifact of a run."""
    wanted = {"artifacts": {"flow_run_id": {"any_": [run]}}}
    (found, *_) = page.request.post(f"{url}/artifacts/filter", data=wanted).json()
    return str(found["id"])


@contextmanager
def _served(warehouse: Path) -> Iterator[str]:
    """The pages of a warehouse, as long as the context lasts."""
    command = [*_IOMINE, "serve", "--port", "0", "--warehouse", str(warehouse)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip().removesuffix("/")
        finally:
            process.terminate()


if __name__ == "__main__":
    main()
