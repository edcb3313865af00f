"""`iomine fabric`: what the fabric consists of, what is wrong with it, and the way from one of its devices to another."""
# ruff: noqa: PLC0415

import datetime as dt
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from iomine.cli.options import DEFAULT_WAREHOUSE, AnswerFormat, AsJson, Format, OnlyCluster, Warehouse, database_of
from iomine.cli.terminal.text import say
from iomine.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from iomine.derive.fabric import Graph
    from iomine.views.passing import Connection

# Snapshots of so many last nights may still hold: a fabric that does not change is stored only once.
_NIGHTS: Final = 5
_LONGEST: Final = 100
_GUID_DIGITS: Final = 16
_PATH: Final = "path"

Fact = tuple[str, str, int, str]


def command(
    what: Annotated[
        list[str] | None,
        typer.Argument(metavar="[path A B]", help="The route from A to B: names of hosts, guids or LIDs.", show_default=False),
    ] = None,
    *,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many of the worst links to name.")] = 10,
    form: AnswerFormat = Format.TABLE,
    as_json: AsJson = False,
    cluster: OnlyCluster = None,
    warehouse: Warehouse = DEFAULT_WAREHOUSE,
) -> None:
    """Show the fabric's parts, its worst links, or a path through it.

    The worst links are those that went down, then those with errors, then the busiest, on the last day with readings of
    ports. A route is printed as ibtracert does.
    """
    from iomine.views.query import open_catalog

    # To open the views takes longer than to ask them.
    with open_catalog(database_of(warehouse)) as con:
        _answer(_Fabric(con, cluster), what or [], limit, Format.JSON if as_json else form)


def _answer(fabric: "_Fabric", what: list[str], limit: int, form: Format) -> None:
    from iomine.cli.terminal.formats import write, write_for_people

    if not what:
        facts = _table(("fact", "name", "count", "detail"), [*fabric.facts(), *fabric.worst(limit)])
        write_for_people(facts, form, facts.column_names)
        return
    if what[0] != _PATH or len(what) != len((_PATH, "A", "B")):
        raise UsageError(f"{' '.join(what)} is not a query of the fabric: write iomine fabric, or iomine fabric path A B.")
    way = fabric.way(what[1], what[2])
    if form is Format.TABLE:
        for line in fabric.traced(way):
            typer.echo(line)
    else:
        write(_table(("guid", "port", "peer_guid", "peer_port", "peer", "peer_lid"), list(fabric.hops(way))), form)


def _table(names: "Sequence[str]", rows: "Sequence[tuple[Any, ...]]") -> "pa.Table":
    import pyarrow as pa

    return pa.table({name: pa.array([row[place] for row in rows]) for place, name in enumerate(names)})


class _Fabric:
    """The newest known state of the fabric."""

    def __init__(self, con: "Connection", cluster: str | None) -> None:
        import pyarrow as pa

        from iomine.derive.fabric import graph_of, in_force, names_of

        self._con, self._cluster = con, cluster
        firsts = {row["kind"]: row["first_night"] for row in self._ask("nights", most_nights=_NIGHTS).to_pylist()}
        if "link" not in firsts:
            of = f" of {cluster}" if cluster else ""
            raise UsageError(f"The warehouse knows no fabric{of}: `iomine sweep --stats PATH` reads what ibnetdiscover prints.")
        nodes, links = (self._ask(name, first_night=firsts["link"]) for name in ("nodes", "links"))
        routes, names = (self._ask(f"{kind}s", first_night=firsts.get(kind, dt.date.max)) for kind in ("route", "name"))
        last = pa.scalar(dt.datetime.max.replace(tzinfo=dt.UTC), pa.timestamp("us", "UTC"))
        nodes, links, self._routes = in_force(nodes, links, routes, last)
        self._links = links
        self._graph: Graph = graph_of(nodes, links)
        self._guids: list[str] = self._graph.guids.to_pylist()
        self._names = names_of(names)
        said = dict(zip(nodes["guid"].to_pylist(), nodes["description"].to_pylist(), strict=True))
        self._descriptions = [self._names.hosts.get(guid) or said.get(guid) or "" for guid in self._guids]

    def _ask(self, name: str, **given: object) -> "pa.Table":
        from iomine.views.query import answer
        from iomine.views.questions import question

        return answer(self._con, question(f"cli/fabric_{name}"), {"cluster": self._cluster, **given})

    def facts(self) -> "Iterator[Fact]":
        """What there is, and how much of it."""
        import numpy as np
        import pyarrow.compute as pc

        from iomine.derive.fabric.graph import NODE_KINDS, UNKNOWN

        graph = self._graph
        for number, kind in [*enumerate(NODE_KINDS), (UNKNOWN, "unknown")]:
            count = int(np.count_nonzero(graph.kinds == number))
            if count or kind in {"switch", "host"}:
                yield "devices", kind, count, ""
        ends = np.flatnonzero(graph.kinds == NODE_KINDS.index("host"))
        hosts = [self._names.hosts.get(self._guids[node]) or graph.names[node] for node in ends.tolist()]
        unnamed = sum(not host for host in hosts)
        yield "hosts", "", len({*filter(None, hosts)}), f"and {unnamed:,} adapters that no host is named for" if unnamed else ""
        yield "subnets", "", len(set(graph.components[graph.switches].tolist())), ""
        is_up = pc.fill_null(self._links["is_up"], fill_value=True)
        up = self._links.filter(is_up).select(["lanes", "speed"]).group_by(["lanes", "speed"]).aggregate([([], "count_all")])
        for row in sorted(up.to_pylist(), key=lambda row: -row["count_all"]):
            speed = f"{row['lanes']}x {row['speed']}" if row["lanes"] and row["speed"] else "not known"
            yield "links", speed, row["count_all"], ""
        down = self._links.filter(pc.invert(is_up))
        yield "links down", "", len(down), ""
        for row in down.to_pylist():
            yield "link down", f"{self._end(row['guid'], row['port'])} - {self._end(row['peer_guid'], row['peer_port'])}", 1, ""
        yield self._unroutable()

    def _unroutable(self) -> Fact:
        import numpy as np

        from iomine.derive.fabric import unroutable_pairs
        from iomine.derive.fabric.graph import AGGREGATION

        if not self._routes.num_rows:
            return "unroutable pairs", "", 0, "not known: no forwarding tables were read"
        pairs, dests = unroutable_pairs(self._graph, self._routes)
        sharp = int(np.count_nonzero(self._graph.kinds[dests] == AGGREGATION))
        detail = f"to {len(dests):,} devices, {sharp:,} of them aggregation nodes" if pairs else ""
        return "unroutable pairs", "", pairs, detail

    def worst(self, limit: int) -> "Iterator[Fact]":
        """Links with errors, and busy ones."""
        for row in self._ask("worst", most_rows=limit).to_pylist():
            busy, wait = row["utilisation_ratio"], row["wait_per_word_ratio"]
            said = [f"errors in the day to {row['last_at']:%Y-%m-%d %H:%M}"]
            said += [] if busy is None else [f"{busy:.0%} full at most"]
            said += [] if wait is None else [f"{wait:.3g} ticks of waiting for each word"]
            yield "worst link", self._sent(row["guid"], row["port"]), int(row["error_count"]), ", ".join(said)

    def _sent(self, guid: str, port: int) -> str:
        import numpy as np
        import pyarrow as pa

        graph = self._graph
        (link,) = graph.senders(graph.nodes_of(pa.array([guid])), np.array([port])).tolist()
        if link < 0:
            return self._end(guid, port)
        return f"{self._end(guid, port)} -> {self._end(self._guids[graph.heads[link]], int(graph.head_ports[link]))}"

    def _end(self, guid: str, port: int) -> str:
        from iomine.units import visible

        name = dict(zip(self._guids, self._descriptions, strict=True)).get(guid)
        return f"{visible(name or guid)[:_LONGEST]}/{port}"

    def way(self, source: str, dest: str) -> list[int]:
        """The directed links from one device to another.

        Raises:
            UsageError: one is not known, or no way leads from one to the other.
        """
        from iomine.derive.fabric import way_between

        ends = self._meant(source), self._meant(dest)
        ways = [(one, other) for one in ends[0] for other in ends[1] if one != other]
        if not ways:
            raise UsageError(f"{source} and {dest} are one device: name two.")
        for one, other in ways:
            if way := way_between(self._graph, self._routes, one, other):
                if len(ways) > 1:
                    say(f"{len(ways)} pairs of devices have these names, and this is the first: name guids to choose another.")
                return way
        kind = "loop, or lead nowhere" if self._routes.num_rows else "are not known, and no links lead there"
        raise UsageError(f"There is no route from {source} to {dest}: forwarding tables {kind}.")

    def _meant(self, text: str) -> list[int]:
        """Devices of a name, guid or LID.

        Raises:
            UsageError: there is none.
        """
        from iomine.derive.fabric import short_name
        from iomine.units import visible

        bare = text.lower().removeprefix("0x")
        by_name: dict[str, list[int]] = {}
        for node, names in enumerate(zip(self._graph.names, self._descriptions, strict=True)):
            for name in {short_name(names[0]), names[1].lower()}:
                by_name.setdefault(name, []).append(node)
        found = by_name.get(text.lower()) or by_name.get(short_name(text))
        if not found and bare.zfill(_GUID_DIGITS) in self._guids:
            found = [self._guids.index(bare.zfill(_GUID_DIGITS))]
        if not found and (lid := _lid(text)) is not None:
            found = [
                node
                for node, first in enumerate(self._graph.lids.tolist())
                if 0 <= lid - first < self._graph.lid_counts[node] and first > 0
            ]
        if found:
            return found
        near = get_close_matches(text.lower(), sorted(by_name), cutoff=0.5)
        hint = (
            f"near it are {', '.join(visible(name)[:_LONGEST] for name in near)}."
            if near
            else "`iomine fabric` counts what there is."
        )
        raise UsageError(f"The fabric has no host, guid or LID {text}: {hint}")

    def traced(self, way: list[int]) -> "Iterator[str]":
        """A way as ibtracert prints it."""
        graph = self._graph
        source, dest = int(graph.tails[way[0]]), int(graph.heads[way[-1]])
        yield f"From {self._device(source, int(graph.tail_ports[way[0]]))}"
        for link in way:
            node = int(graph.heads[link])
            kind = "switch" if node in graph.switches else "ca"
            port = f"{{0x{self._port_guid(link)}}}[{graph.head_ports[link]}]"
            yield f"[{graph.tail_ports[link]}] -> {kind} port {port} {self._called(node)}"
        yield f"To {self._device(dest, int(graph.head_ports[way[-1]]))}"

    def _device(self, node: int, port: int) -> str:
        kind = "switch" if node in self._graph.switches else "ca"
        return f"{kind} {{0x{self._guids[node]}}} portnum {port if kind == 'ca' else 0} {self._called(node)}"

    def _called(self, node: int) -> str:
        from iomine.units import visible

        first = int(self._graph.lids[node])
        return f'lid {first}-{first + int(self._graph.lid_counts[node]) - 1} "{visible(self._descriptions[node])}"'

    def _port_guid(self, link: int) -> str:
        """The guid of the port that receives; a switch has one for all."""
        name = "port_guid" if link % 2 else "peer_port_guid"
        row = self._links["link_id"].to_pylist().index(self._graph.link_ids[link // 2].as_py())
        said: str | None = self._links[name][row].as_py()
        return said or self._guids[self._graph.heads[link]]

    def hops(self, way: list[int]) -> "Iterator[tuple[Any, ...]]":
        """Rows of a way."""
        graph = self._graph
        for link in way:
            tail, head = int(graph.tails[link]), int(graph.heads[link])
            ports = int(graph.tail_ports[link]), int(graph.head_ports[link])
            yield self._guids[tail], ports[0], self._guids[head], ports[1], self._descriptions[head], int(graph.lids[head])


def _lid(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None
