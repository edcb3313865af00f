"""The fabric's picture: what its page holds, and what the page asks for later.

A page has devices, links, and what each directed link did in the whole night. For links that were busy, or high in some number,
it also has each ten minutes, so that the night can be replayed at once. All links in ten minutes, and the links of a job, are
parts that the page loads when they are asked for. A part is a script beside the page that names a block, because pages that
are files cannot load data.
"""

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from iomine.derive.fabric_night import HIGHEST, LOWEST, SLOTS, STEPS, levels_of
from iomine.errors import UsageError, did_you_mean
from iomine.report.blocks import block_script
from iomine.report.page import plain
from iomine.units import counted, percent
from iomine.views.answers import Ask, Row, rows_of
from iomine.views.questions import question
from iomine.web.question import UnknownNameError, date_of

FIRST: Final = "fabric"
_SERIES: Final = ("utilisation", "storage", "waiting", "errors", "multicast")
_LEVELS: Final = ("utilisation_levels", "storage_levels", "waiting_levels", "error_levels", "multicast_levels")
_OF_NIGHT: Final = {
    "utilisation": "utilisation_ratio",
    "storage": "storage_ratio",
    "waiting": "wait_per_word_ratio",
    "errors": "link_error_count",
    "multicast": "multicast_packet_ratio",
    "peak": "peak_utilisation_ratio",
}
# Numbers by which the highest links are chosen.
_RANKED: Final = ("peak", "utilisation", "storage", "other", "waiting", "errors")
_BUSY: Final = 0.5
_TOP: Final = 200
_MOST_HOT: Final = 1200
# Compression level: somebody waits for the page.
_GZIP_LEVEL: Final = 2
_script: Final[Callable[..., bytes]] = partial(block_script, level=_GZIP_LEVEL)
_MOST_JOBS: Final = 1000
_KINDS: Final = ("switch", "host", "aggregation", "router")
_CUT: Final = 60
# Between the pictures of two fabrics.
_APART: Final = 6.0
_UNKNOWN_TIER: Final = 255
_SLOT_MINUTES: Final = 10


@dataclass(frozen=True, slots=True)
class FabricNight:
    """Which fabric is looked at, and when.

    Attributes:
        cluster: the machine.
        night: None where nothing is known of what links did.
        nights: all nights of the machine of which that is known, the newest first.
        clusters: all machines whose fabric is known.
    """

    cluster: str
    night: dt.date | None
    nights: tuple[dt.date, ...]
    clusters: tuple[str, ...]

    @property
    def parameters(self) -> list[tuple[str, str]]:
        """As they stand in an address."""
        return [("cluster", self.cluster), *([("night", self.night.isoformat())] if self.night else [])]


def fabric_night_of(ask: Ask, parameters: Sequence[tuple[str, str]]) -> FabricNight | None:
    """The fabric and the night asked for: if the address does not say, the first machine, and its newest night with readings.

    Returns:
        None where no fabric is known.

    Raises:
        UsageError: a parameter makes no sense.
        UnknownNameError: there is no fabric of such a machine.
    """
    known: dict[str, dict[dt.date, bool]] = {}
    for row in rows_of(ask(question("fabric/nights"))):
        known.setdefault(row["cluster"], {}).update({row["night"]: row["is_counted"]} if row["night"] else {})
    asked = {name: value for name, value in parameters if value}
    if unknown := asked.keys() - {"cluster", "night"}:
        raise UsageError(f"There is no parameter {min(unknown)[:100]!r}: write cluster or night.")
    if not known:
        return None
    cluster = asked.get("cluster", next(iter(known)))
    if cluster not in known:
        hint = did_you_mean(cluster[:100], known) or f"there are {', '.join(known)}."
        raise UnknownNameError(f"No fabric is known of a machine {cluster[:100]!r}: {hint}")
    nights = known[cluster]
    # Logs of the last hours may be of a night whose ports were not read yet.
    newest = next((night for night, is_counted in nights.items() if is_counted), next(iter(nights), None))
    return FabricNight(cluster, date_of(asked["night"]) if "night" in asked else newest, tuple(nights), tuple(known))


def worst_of(ask: Ask, of: FabricNight) -> Row | None:
    """The worst hour of a link in the night, a row of the question `fabric/worst`; None where nothing is known of links."""
    return next(iter(rows_of(ask(question("fabric/worst"), {"cluster": of.cluster, "night": of.night}))), None)


def sentence_of_links(worst: Row) -> str:
    """Which link was worst in a night and when, of the row of `worst_of`; without who filled it."""
    ends = " to ".join(
        _plain(worst[device] or "?") + (f" port {worst[port]}" if worst[port] else "")
        for device, port in (("device", "port"), ("peer_device", "peer_port"))
    )
    at = f"the hour from {worst['begin_at']:%H:%M} UTC"
    if worst["congested_link_count"]:
        minutes = _SLOT_MINUTES * worst["congested_slot_count"]
        said = f"{counted(worst['congested_link_count'], 'link')} congested. Worst: {ends}, for {minutes} minutes of {at}"
        return f"{said} ({worst['trouble']})." if worst["trouble"] else f"{said}."
    if worst["peak_utilisation_ratio"] is None:
        return "its ports were not read, so whether links were congested is not known."
    full = percent(worst["peak_utilisation_ratio"])
    return f"no link congested. Fullest: {ends}, {full} of its capacity in ten minutes of {at}."


class Fabric:
    """A fabric in a night, and the parts of its picture.

    Args:
        ask: answers questions.
        of: which.
    """

    def __init__(self, ask: Ask, of: FabricNight) -> None:
        self._ask = ask
        # Before a night is known, the fabric is shown as it is now.
        until = dt.datetime.combine(of.night + dt.timedelta(days=1), dt.time(), dt.UTC) if of.night else dt.datetime.now(dt.UTC)
        self._at = {"cluster": of.cluster, "until": until}
        self._night = {"cluster": of.cluster, "night": of.night}
        self._of = of

    def part(self, name: str) -> bytes:
        """The script of a part: `fabric`, `slot-N` for the Nth ten minutes, or `job-KEY`.

        Raises:
            UnknownNameError: there is no such part.
        """
        kind, _, key = name.partition("-")
        if name == FIRST:
            return _script(name, *self._first())
        if kind == "slot" and key.isdecimal() and key.isascii() and int(key) < SLOTS:
            return _script(name, {}, self._slot(int(key)))
        if kind == "job":
            for job in self.jobs:
                if job["key"] == key:
                    return _script(name, {}, self._job(job["job"]))
        raise UnknownNameError(f"The picture has no part {name[:100]!r}.")

    @cached_property
    def jobs(self) -> list[Row]:
        """Jobs that moved bytes over the fabric, those that moved most first, each with a `key` for addresses."""
        found = rows_of(self._ask(question("fabric/jobs"), self._night))[:_MOST_JOBS]
        return [row | {"key": hashlib.sha256(row["job"].encode()).hexdigest()[:12]} for row in found]

    @cached_property
    def _nodes(self) -> pa.Table:
        found = self._ask(question("fabric/nodes"), self._at)
        found = found.filter(pc.and_(pc.is_finite(found["x"]), pc.is_finite(found["y"])))
        # Each reading has a picture of its own; those of several fabrics stand side by side.
        x, at = found["x"].to_numpy().copy(), found["sampled_at"].cast(pa.int64()).to_numpy()
        end = 0.0
        for reading in np.unique(at):
            of_reading = at == reading
            x[of_reading] += end - x[of_reading].min()
            end = x[of_reading].max() + _APART
        return found.set_column(found.column_names.index("x"), "x", pa.array(x))

    @cached_property
    def _links(self) -> pa.Table:
        found = self._ask(question("fabric/links"), self._at)
        guids = self._nodes["guid"]
        return found.filter(pc.and_(pc.is_in(found["guid"], guids), pc.is_in(found["peer_guid"], guids)))

    @cached_property
    def _senders(self) -> pa.ChunkedArray:
        """`guid/port` of the sending end of each directed link: 2n from the first end of link n, 2n + 1 from the other."""
        one, other = (
            pc.binary_join_element_wise(self._links[guid], self._links[port].cast(pa.string()), "/")
            for guid, port in (("guid", "port"), ("peer_guid", "peer_port"))
        )
        count = len(self._links)
        order = np.stack([np.arange(count), np.arange(count) + count], axis=1).ravel()
        return pa.chunked_array([*one.chunks, *other.chunks], pa.string()).take(pa.array(order))

    def _places(self, senders: pa.ChunkedArray) -> npt.NDArray[np.int64]:
        """Numbers of directed links, -1 for those that the fabric does not have."""
        found = pc.index_in(senders, value_set=self._senders.combine_chunks())
        return np.asarray(pc.fill_null(found, -1).to_numpy(), np.int64)

    def _of_all(self, answer: pa.Table, names: Mapping[str, str]) -> dict[str, npt.NDArray[np.float64]]:
        """Columns of an answer by directed link, NaN where nothing is known."""
        places = self._places(answer["sender"])
        found = {}
        for name, column in names.items():
            values = np.full(len(self._senders), np.nan)
            values[places[places >= 0]] = answer[column].cast(pa.float64()).to_numpy()[places >= 0]
            found[name] = values
        return found

    def _first(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        nodes, links = self._nodes, self._links
        of_night = self._of_all(self._ask(question("fabric/night"), self._night), _OF_NIGHT)
        hot = self._hot(of_night)
        guids = nodes["guid"].to_pylist()
        parents, chassis = _bundles(guids, nodes["node_kind"].to_pylist(), nodes["bundle"].to_pylist())
        speeds = sorted({speed for speed in links["speed"].to_pylist() if speed})
        jobs = self.jobs
        sharers = self._sharers(hot, jobs)
        about = {
            "night": self._of.night and self._of.night.isoformat(),
            "lowest": LOWEST,
            "highest": HIGHEST,
            "steps": STEPS,
            "slots": SLOTS,
            "guids": guids,
            "names": _names(nodes.select(["host", "description", "guid"]).to_pylist()),
            "descriptions": [_plain(text or "") for text in nodes["description"].to_pylist()],
            "kinds": _KINDS,
            "speeds": speeds,
            "jobs": [
                [job["key"], plain(job["job"]), plain(job["user"] or ""), plain(job["app"] or ""), job["routed_bytes"]]
                for job in jobs
            ],
            "evidence": sorted({job["fabric_evidence"] for job in jobs if job["fabric_evidence"]}),
        }
        arrays = {
            "kind": _coded(nodes["node_kind"], _KINDS),
            "tier": _whole(nodes["tier"], np.uint8, _UNKNOWN_TIER),
            "lid": _whole(nodes["lid"], np.uint32, 0),
            "port_count": _whole(nodes["port_count"], np.uint16, 0),
            "x": nodes["x"].to_numpy().astype(np.float32),
            "y": nodes["y"].to_numpy().astype(np.float32),
            "parent": parents,
            "chassis": chassis,
            "end": np.asarray(pc.index_in(links["guid"], value_set=nodes["guid"].combine_chunks()).to_numpy(), np.uint32),
            "peer": np.asarray(pc.index_in(links["peer_guid"], value_set=nodes["guid"].combine_chunks()).to_numpy(), np.uint32),
            "port": _whole(links["port"], np.uint16, 0),
            "peer_port": _whole(links["peer_port"], np.uint16, 0),
            "lanes": _whole(links["lanes"], np.uint8, 0),
            "speed": _coded(links["speed"], speeds),
            "capacity": links["capacity_bytes_per_second"].to_numpy().astype(np.float32),
            "is_up": pc.fill_null(links["is_up"], True).cast(pa.uint8()).to_numpy(),
            **{f"night_{name}": levels_of(values) for name, values in of_night.items()},
            "hot": hot.astype(np.uint32),
            **self._series(hot),
            **sharers,
        }
        return about, arrays

    def _hot(self, of_night: Mapping[str, npt.NDArray[np.float64]]) -> npt.NDArray[np.int64]:
        """Directed links that were busy in ten minutes, and the highest in each number."""
        other = of_night["utilisation"] - np.nan_to_num(of_night["storage"])
        ranked = {**of_night, "other": other}
        found = [np.flatnonzero(np.nan_to_num(of_night["peak"]) >= _BUSY)]
        for name in _RANKED:
            values = np.nan_to_num(ranked[name])
            order = np.argsort(-values, kind="stable")[:_TOP]
            found.append(order[values[order] > 0])
        hot = np.unique(np.concatenate(found))
        # So many that a page stays small; those that were fullest.
        fullest = np.argsort(-np.nan_to_num(of_night["peak"])[hot], kind="stable")[:_MOST_HOT]
        return np.sort(hot[fullest])

    def _series(self, hot: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.uint16]]:
        """Levels of these directed links by ten minutes, a link after the other."""
        places, found = self._read_levels(self._senders.take(pa.array(hot)).to_pylist())
        row = np.full(len(self._senders), -1)
        row[hot] = np.arange(len(hot))
        # An answer may name a link that the fabric no longer has.
        rows = np.where(places >= 0, row[places], -1)
        series = {}
        for name, levels in zip(_SERIES, found, strict=True):
            table = np.zeros((len(hot), SLOTS), np.uint16)
            table[rows[rows >= 0]] = levels[rows >= 0]
            series[f"series_{name}"] = table.ravel()
        return series

    def _slot(self, slot: int) -> dict[str, npt.NDArray[Any]]:
        """Levels of all directed links in ten minutes."""
        places, found = self._read_levels(None)
        arrays = {}
        for name, levels in zip(_SERIES, found, strict=True):
            of_slot = np.zeros(len(self._senders), np.uint16)
            of_slot[places[places >= 0]] = levels[places >= 0, slot]
            arrays[name] = of_slot
        return arrays

    def _read_levels(self, senders: list[str] | None) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.uint16]]]:
        answer = (
            self._all_levels if senders is None else self._ask(question("fabric/levels"), {**self._night, "senders": senders})
        )
        return self._places(answer["sender"]), [_matrix(answer[name]) for name in _LEVELS]

    @cached_property
    def _all_levels(self) -> pa.Table:
        return self._ask(question("fabric/levels"), {**self._night, "senders": None})

    def _sharers(self, hot: npt.NDArray[np.int64], jobs: Sequence[Row]) -> dict[str, npt.NDArray[Any]]:
        """Who moved most over each of these directed links."""
        senders = self._senders.take(pa.array(hot)).to_pylist()
        answer = self._ask(question("fabric/sharers"), {**self._night, "senders": senders})
        numbers = {job["job"]: number for number, job in enumerate(jobs)}
        job = np.array([numbers.get(name, -1) for name in answer["job"].to_pylist()], np.int64)
        links, moved = self._places(answer["sender"]), answer["moved_bytes"].to_numpy()
        kept = (job >= 0) & (links >= 0)
        return {
            "sharer_link": links[kept].astype(np.uint32),
            "sharer_job": job[kept].astype(np.uint16),
            "sharer_bytes": moved[kept].astype(np.float32),
        }

    def _job(self, job: str) -> dict[str, npt.NDArray[Any]]:
        """Directed links of a job."""
        answer = self._ask(question("fabric/job"), {**self._night, "job": job})
        links = self._places(answer["sender"])
        kept = links >= 0
        return {
            "link": links[kept].astype(np.uint32),
            "read": answer["read_bytes"].to_numpy()[kept].astype(np.float32),
            "write": answer["write_bytes"].to_numpy()[kept].astype(np.float32),
            "is_host": answer["is_host_link"].cast(pa.uint8()).to_numpy()[kept],
            "is_server": answer["is_server_link"].cast(pa.uint8()).to_numpy()[kept],
        }

    def parts(self, most_jobs: int) -> Iterator[str]:
        """Names of the parts that a page may load later: of each ten minutes, and of so many jobs."""
        if self._of.night:
            yield from (f"slot-{slot}" for slot in range(SLOTS))
            yield from (f"job-{job['key']}" for job in self.jobs[:most_jobs])


def _names(rows: Sequence[Row]) -> list[str]:
    """What devices are called in few words; those that share a name, with the end of their guid."""
    names = [_plain(row["host"] or row["description"] or row["guid"]) for row in rows]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} …{row['guid'][-6:]}" for name, row in zip(names, rows, strict=True)]


def _plain(text: str) -> str:
    """A name in a few signs, all of which can be seen; most are so already, and there are thousands."""
    return text if len(text) <= _CUT and text.isprintable() else plain(text, _CUT)


def _bundles(
    guids: Sequence[str], kinds: Sequence[str], bundles: Sequence[str | None]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The switch of each host, and a number for the chassis of each chip; -1 for none."""
    index = {guid: number for number, guid in enumerate(guids)}
    numbers: dict[str, int] = {}
    parents, chassis = np.full(len(guids), -1, np.int32), np.full(len(guids), -1, np.int32)
    for place, (kind, bundle) in enumerate(zip(kinds, bundles, strict=True)):
        if bundle is None:
            continue
        if kind in {"switch", "router"}:
            chassis[place] = numbers.setdefault(bundle, len(numbers))
        else:
            parents[place] = index.get(bundle, -1)
    return parents, chassis


def _coded(values: pa.ChunkedArray, known: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Places of texts in a list, 255 for others."""
    found = pc.index_in(values.cast(pa.string()), value_set=pa.array(known, pa.string()))
    return np.asarray(pc.fill_null(found, 255).to_numpy(), np.uint8)


def _whole(values: pa.ChunkedArray, kind: type[np.unsignedinteger[Any]], unknown: int) -> npt.NDArray[Any]:
    given = pc.fill_null(values, unknown).to_numpy()
    return np.asarray(given.clip(0, np.iinfo(kind).max), kind)


def _matrix(blobs: pa.ChunkedArray) -> npt.NDArray[np.uint16]:
    """Levels by link and slot."""
    whole = blobs.combine_chunks()
    if not len(whole):
        return np.zeros((0, SLOTS), np.uint16)
    # All rows have the same length, so their bytes are one table.
    return np.frombuffer(whole.buffers()[2], "<u2", count=len(whole) * SLOTS, offset=whole.offset * SLOTS * 2).reshape(-1, SLOTS)
