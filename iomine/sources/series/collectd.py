"""collectd's samples as Elasticsearch gives them: pages of hits, each a document of one plugin on one host.

`read` and `write` of `disk_octets` are bytes a second since the sample before. How long ago that was the documents do not
say: the commonest step of a disk is taken for it. Hits come in no order.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa

from iomine.errors import UnreadableError
from iomine.sources.model import Input, Readings, Source
from iomine.sources.series.doubts import counted, joined
from iomine.sources.series.rows import RATE, Column, rows, target_kind
from iomine.sources.series.times import SECOND, instants, steps_of, time_doubt, usual_step

KIND: Final = "collectd"
_LOOK_BYTES: Final = 65_536
_DISK: Final = "disk_octets"
_COUNTERS: Final = {"read": "read_bytes", "write": "write_bytes"}


class _Sample(NamedTuple):
    """What a disk did until a moment."""

    target: str
    at: datetime
    rates: tuple[float, ...]


def _knows(given: Input) -> bool:
    start = given.data[:_LOOK_BYTES]
    return start.lstrip()[:1] in (b"[", b"{") and b'"_source"' in start and b'"collectd_type"' in start


def _read(given: Input) -> Readings:
    documents = list(_documents(_parsed(given.data)))
    if not documents:
        raise UnreadableError("The file has no hits of Elasticsearch.")
    disks = [document for document in documents if document.get("collectd_type") == _DISK]
    samples = [sample for sample in map(_sample, disks) if sample]
    bad, others = len(disks) - len(samples), len(documents) - len(disks)
    doubts = (
        counted(bad, "documents of disks lack host, disk, time or rates"),
        counted(others, "documents that are not of disks' bytes were left out"),
    )
    if not samples:
        return Readings({}, joined(*doubts))
    at = instants(np.array([sample.at.timestamp() for sample in samples]))
    targets = pa.array([sample.target for sample in samples]).dictionary_encode()
    order = np.argsort(at, kind="stable")
    steps = steps_of(at[order], targets.indices.to_numpy()[order])
    usual = usual_step(steps)
    if not usual:
        raise UnreadableError("No disk has two samples, so its rates have no interval.")
    columns: dict[str, Column] = {
        "begin_at": at - usual,
        "interval_seconds": usual / SECOND,
        "source_kind": KIND,
        "target": targets,
        "target_kind": pa.array([target_kind(sample.target) for sample in samples], pa.string()).dictionary_encode(),
        "counter_unit": "bytes",
    }
    rates = np.array([sample.rates for sample in samples])
    tables = [
        rows(RATE, len(at), columns | {"counter": counter, "rate": rates[:, i]}) for i, counter in enumerate(_COUNTERS.values())
    ]
    return Readings({RATE: pa.concat_tables(tables)}, joined(time_doubt(steps), *doubts))


def _parsed(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"The file is not JSON: {error}.") from error


def _documents(pages: object) -> Iterator[dict[str, Any]]:
    """Documents of hits, which may lie in lists of pages or in responses as Elasticsearch gave them."""
    pending = [pages]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(reversed(node))
        elif isinstance(node, dict) and isinstance(node.get("_source"), dict):
            yield node["_source"]
        elif isinstance(node, dict):
            pending.append(node.get("hits"))


def _sample(document: dict[str, Any]) -> _Sample | None:
    """The sample of a disk, None where the document has none."""
    host, disk = document.get("hostname", document.get("host")), document.get("plugin_instance")
    try:
        at = datetime.fromisoformat(document["@timestamp"])
        rates = tuple(float(document[name]) for name in _COUNTERS)
    except (LookupError, TypeError, ValueError, OverflowError):
        return None
    return _Sample(f"{host}/{disk}", at, rates) if isinstance(host, str) and isinstance(disk, str) and at.tzinfo else None


SOURCE: Final = Source(KIND, _knows, _read)
