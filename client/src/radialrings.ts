/** Circles of a run that somebody chooses: what can be chosen, where their edges come from, and the data of the picture. */

import type { Moved } from "./moved";
import { type Cells, INNER, type Kind, type Nodes, OUTER, RadialData } from "./radialdata";
import { UNKNOWN } from "./rows";

/** What a node and nodes of a kind are called. */
export const WORDS: Record<Kind, [string, string]> = {
  rank: ["rank", "ranks"],
  host: ["host", "hosts"],
  carrier: ["carrier", "carriers"],
  ost: ["OST", "OSTs"],
  oss: ["OSS", "OSSs"],
  mount: ["mount", "mounts"],
  place: ["place", "places"],
  file: ["file", "files"],
};
const COLUMNS = ["time", "value", "count", "bytes", "mean", "least", "most"] as const;

/** Nodes of a kind, and which of them a node of the page's circles, or a row of requests, belongs to. */
interface Side {
  nodes: Nodes;
  ofBase: (circle: number, node: number) => number;
  ofMoved: (moved: Moved, row: number) => number;
}

/** The ring of the page's cells that has the edges, and whether it has them the other way round. */
interface Source {
  ring: number;
  isTurned: boolean;
}

export class Rings {
  /** The page's own circles. */
  readonly usual: Kind[];
  /** Nodes of the page by rank. */
  private readonly arcs: (number | undefined)[] = [];
  private readonly carriers: (number | undefined)[] = [];

  constructor(private readonly base: RadialData) {
    this.usual = base.about.circles.map(({ kind }) => kind as Kind);
  }

  /** Whether circles of a picture can be chosen. */
  static isFor(data: RadialData): boolean {
    return data.about.circles.every(({ kind }) => kind);
  }

  /** What can be chosen: of the single ranks of an arc it is not known who carried what they asked for. */
  kinds(arc?: number): Kind[] {
    const [ranks, middle, places] = this.circles;
    const isHosted = ranks.hosts.some((host) => host != null) || middle.hosts.some((host) => host != null);
    const carrier: Kind[] = middle.kind === "carrier" && arc === undefined ? ["carrier"] : [];
    const own: Kind[] = places.kind === "ost" ? ["ost"] : places.kind === "place" ? (arc === undefined ? ["place"] : ["ost"]) : [];
    return ["rank", ...(isHosted || middle.kind === "host" ? (["host"] as Kind[]) : []), ...carrier, ...own, ...(this.knowsServers ? (["oss"] as Kind[]) : []), "mount", "file"];
  }

  /** Whether it is known which servers OSTs are on. */
  get knowsServers(): boolean {
    const { kind, hosts } = this.circles[2];
    return kind === "ost" && hosts.some((host) => host != null);
  }

  /** The first and the last rank of an arc that several share; undefined for any other. */
  ranksOf(arc: number): [number, number] | undefined {
    const { firstRanks, lastRanks } = this.circles[0];
    return firstRanks[arc]! < lastRanks[arc]! ? [firstRanks[arc]!, lastRanks[arc]!] : undefined;
  }

  /** Pairs of circles whose edges are known by requests alone. */
  requested(kinds: Kind[], arc?: number): [Kind, Kind][] {
    return kinds.slice(1).map((to, ring): [Kind, Kind] => [kinds[ring]!, to]).filter(([from, to]) => !this.source(from, to, arc));
  }

  /** The data of a picture of chosen circles, of the single ranks of an arc where one is opened. */
  data(kinds: Kind[], moved?: Moved, arc?: number): RadialData {
    const { about } = this.base;
    if (arc === undefined && kinds.join() === this.usual.join()) return this.base;
    const sides = kinds.map((kind) => this.side(kind, moved, arc));
    const parts = kinds.slice(1).map((to, ring) => ({ ring, from: sides[ring]!, to: sides[ring + 1]!, source: this.source(kinds[ring]!, to, arc) }));
    const found: Record<keyof Cells, number[]> = { ring: [], op: [], metric: [], from: [], to: [], time: [], value: [], count: [], bytes: [], mean: [], least: [], most: [] };
    for (const { ring, from, to, source } of parts) {
      about.ops.forEach((_, op) =>
        about.metrics.forEach((_, metric) => {
          const add = (columns: Record<(typeof COLUMNS)[number], ArrayLike<number>>, cell: number, start: number, end: number): void => {
            found.ring.push(ring);
            found.op.push(op);
            found.metric.push(metric);
            found.from.push(start);
            found.to.push(end);
            for (const name of COLUMNS) found[name].push(columns[name][cell]!);
          };
          if (source) this.addBase(source, op, metric, from, to, add);
          else if (moved) {
            const { columns } = moved;
            for (let row = 0; row < columns.op.length; row++) {
              if (columns.op[row] === op && columns.metric[row] === metric) add(columns, row, from.ofMoved(moved, row), to.ofMoved(moved, row));
            }
          }
        }),
      );
    }
    // Of one arc few hosts and places are of interest; a rank of it that did nothing is.
    if (arc !== undefined) sides.slice(1).forEach(({ nodes }, ring) => dropUnused(nodes, [found.to, found.ring, ring], [found.from, found.ring, ring + 1]));
    const cells = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, Float64Array.from(values)])) as unknown as Cells;
    const missing = parts.flatMap(({ ring, source }) => about.missing.filter((each) => source && (each.ring < 0 || each.ring === source.ring)).map((each) => ({ ...each, ring })));
    const title = `Who talks to whom: ${sides.map(({ nodes }) => nodes.many).join(", ")}`;
    return new RadialData({ ...about, title, circles: sides.map(({ nodes }) => nodes), missing }, cells);
  }

  private get circles(): [Nodes, Nodes, Nodes] {
    return this.base.about.circles as [Nodes, Nodes, Nodes];
  }

  private addBase(
    { ring, isTurned }: Source,
    op: number,
    metric: number,
    from: Side,
    to: Side,
    add: (columns: Cells, cell: number, start: number, end: number) => void,
  ): void {
    const { cells } = this.base;
    const [starts, ends] = isTurned ? [to, from] : [from, to];
    const [begin, end] = this.base.range(ring, op, metric);
    for (let cell = begin; cell < end; cell++) {
      const [start, stop] = [starts.ofBase(ring, cells.from[cell]!), ends.ofBase(ring + 1, cells.to[cell]!)];
      add(cells, cell, isTurned ? stop : start, isTurned ? start : stop);
    }
  }

  /** Where edges between two kinds come from; undefined where only requests have them. */
  private source(from: Kind, to: Kind, arc?: number): Source | undefined {
    if (arc !== undefined) return undefined;
    for (const [one, other, isTurned] of [[from, to, false], [to, from, true]] as const) {
      const ring = this.straight(one, other);
      if (ring !== undefined) return { ring, isTurned };
    }
    return undefined;
  }

  private straight(from: Kind, to: Kind): number | undefined {
    const [ranks, middle, places] = this.circles;
    // A host of several is that of the rank that asked; from hosts to places it is that of the rank that moved the bytes.
    if (to === middle.kind && (from === "rank" || from === "host")) return OUTER;
    if (to !== places.kind && !(to === "oss" && this.knowsServers)) return undefined;
    const isEach = middle.kind === "carrier" && [ranks, middle].every(({ firstRanks, lastRanks }) => firstRanks.every((rank, node) => rank === lastRanks[node]));
    return from === middle.kind || from === "host" || (from === "rank" && isEach) ? INNER : undefined;
  }

  private side(kind: Kind, moved: Moved | undefined, arc: number | undefined): Side {
    const [ranks, middle, places] = this.circles;
    const arcOf = (rank: number): number => this.nodeOf(ranks, this.arcs, rank);
    const ostAt = new Map(places.osts.map((ost, node) => [ost, node]));
    switch (kind) {
      case "rank":
        if (arc !== undefined) return this.single(arc);
        return known(copied(ranks), (circle, node) => (circle ? arcOf(middle.firstRanks[node]!) : node), ({ columns }, row) => arcOf(columns.rank[row]!));
      case "host": {
        const { nodes, numberOf } = named("host", [...ranks.hosts, ...middle.hosts]);
        const hostOf = (circle: number, node: number): number => numberOf(this.base.about.circles[circle]!.hosts[node]);
        place(nodes, ranks, (node) => hostOf(0, node));
        return known(nodes, hostOf, ({ columns }, row) => {
          const node = arc ?? arcOf(columns.rank[row]!);
          return node < 0 ? UNKNOWN : hostOf(0, node);
        });
      }
      case "carrier":
        return known(copied(middle), (_, node) => node, ({ columns }, row) => this.nodeOf(middle, this.carriers, columns.rank[row]!));
      case "ost":
      case "place":
        return known(places.kind === "ost" || kind === "place" ? copied(places) : empty("ost"), (_, node) => node, ({ columns }, row) => ostAt.get(columns.ost[row]!) ?? UNKNOWN);
      case "oss": {
        const { nodes, numberOf } = named("oss", places.hosts);
        const serverOf = (node: number | undefined): number => (node === undefined ? UNKNOWN : numberOf(places.hosts[node]));
        nodes.members = nodes.labels.map((_, server) => ({ osts: places.osts.filter((_, node) => serverOf(node) === server) }));
        return known(nodes, (_, node) => serverOf(node), ({ columns }, row) => serverOf(ostAt.get(columns.ost[row]!)));
      }
      case "mount": {
        const { nodes, numberOf } = named("mount", places.kind === "mount" ? places.labels : (moved?.mounts ?? []));
        const mountOf = (of: Moved, file: number): number => numberOf(of.mounts[of.mountOf[file] ?? UNKNOWN] ?? `unknown ${nodes.one}`);
        if (moved) nodes.members = nodes.labels.map((_, mount) => ({ files: moved.numbersOf.filter((_, file) => mountOf(moved, file) === mount).flat() }));
        return known(nodes, (_, node) => numberOf(places.labels[node]), (of, row) => mountOf(of, of.columns.file[row]!));
      }
      case "file": {
        const nodes = { ...empty("file"), labels: [...(moved?.files ?? [])], members: moved?.numbersOf.map((files) => ({ files })) ?? [] };
        return known(nodes, () => UNKNOWN, ({ columns }, row) => columns.file[row]!);
      }
    }
  }

  /** The single ranks of an arc. */
  private single(arc: number): Side {
    const [first, last] = this.ranksOf(arc)!;
    const numbers = Array.from({ length: last - first + 1 }, (_, at) => first + at);
    const host = this.circles[0].hosts[arc] ?? null;
    const nodes = { ...empty("rank"), labels: numbers.map((rank) => `rank ${rank}`), hosts: numbers.map(() => host), firstRanks: [...numbers], lastRanks: [...numbers] };
    return known(nodes, () => UNKNOWN, ({ columns }, row) => (columns.rank[row]! >= first && columns.rank[row]! <= last ? columns.rank[row]! - first : UNKNOWN));
  }

  /** The one node that has a rank; unknown where none or several may have it. */
  private nodeOf({ firstRanks, lastRanks }: Nodes, found: (number | undefined)[], rank: number): number {
    if (rank < 0) return UNKNOWN;
    const seen = found[rank];
    if (seen !== undefined) return seen;
    let node = UNKNOWN;
    for (let at = 0; at < firstRanks.length; at++) {
      if (rank < firstRanks[at]! || rank > lastRanks[at]!) continue;
      if (node !== UNKNOWN) return (found[rank] = UNKNOWN);
      node = at;
    }
    return (found[rank] = node);
  }
}

/** A side of which what is not known has a node of its own, from when it is needed. */
function known(nodes: Nodes, ofBase: Side["ofBase"], ofMoved: Side["ofMoved"]): Side {
  let unknown = UNKNOWN;
  const whole = (node: number): number => {
    if (node >= 0) return node;
    if (unknown < 0) {
      unknown = nodes.labels.push(`unknown ${nodes.one}`) - 1;
      nodes.members?.push({});
      for (const [list, none] of [[nodes.hosts, null], [nodes.positions, 1], [nodes.firstRanks, 0], [nodes.lastRanks, -1], [nodes.osts, -1], [nodes.links, null]] as [unknown[], unknown][]) {
        if (list.length) list.push(none);
      }
    }
    return unknown;
  };
  return { nodes, ofBase: (circle, node) => whole(ofBase(circle, node)), ofMoved: (moved, row) => whole(ofMoved(moved, row)) };
}

/** Leaves out nodes without edges; those that come after move up. */
function dropUnused(nodes: Nodes, ...ends: [number[], number[], number][]): void {
  const isUsed = nodes.labels.map(() => false);
  const each = (act: (list: number[], cell: number) => void): void => {
    for (const [list, rings, ring] of ends) rings.forEach((own, cell) => own === ring && act(list, cell));
  };
  each((list, cell) => (isUsed[list[cell]!] = true));
  let count = 0;
  const numbers = isUsed.map((used) => (used ? count++ : UNKNOWN));
  each((list, cell) => (list[cell] = numbers[list[cell]!]!));
  const kept = <Item>(list: Item[]): Item[] => list.filter((_, node) => isUsed[node]);
  Object.assign(nodes, Object.fromEntries(Object.entries(nodes).map(([name, list]) => [name, Array.isArray(list) ? kept(list as unknown[]) : list])));
}

function empty(kind: Kind): Nodes {
  const [one, many] = WORDS[kind];
  return { kind, one, many, labels: [], hosts: [], positions: [], firstRanks: [], lastRanks: [], osts: [], links: [] };
}

function copied(nodes: Nodes): Nodes {
  const { labels, hosts, positions, firstRanks, lastRanks, osts, links } = nodes;
  return { ...nodes, labels: [...labels], hosts: [...hosts], positions: [...positions], firstRanks: [...firstRanks], lastRanks: [...lastRanks], osts: [...osts], links: [...links] };
}

/** Nodes of a kind by their names, in the order in which these come first. */
function named(kind: Kind, names: (string | null)[]): { nodes: Nodes; numberOf: (name: string | null | undefined) => number } {
  const numbers = new Map<string, number>();
  for (const name of names) if (name != null && !numbers.has(name)) numbers.set(name, numbers.size);
  return { nodes: { ...empty(kind), labels: [...numbers.keys()] }, numberOf: (name) => (name == null ? UNKNOWN : (numbers.get(name) ?? UNKNOWN)) };
}

/** Puts hosts where their ranks lie on average, and gives them those ranks where these are neighbours. */
function place(nodes: Nodes, arcs: Nodes, hostOf: (node: number) => number): void {
  const [sums, counts] = [nodes.labels.map(() => 0), nodes.labels.map(() => 0)];
  const [firsts, lasts] = [nodes.labels.map(() => -1), nodes.labels.map(() => -1)];
  arcs.labels.forEach((_, node) => {
    const host = hostOf(node);
    if (host < 0) return;
    sums[host]! += arcs.positions[node] ?? 0;
    counts[host]!++;
    if (firsts[host]! < 0) firsts[host] = node;
    lasts[host] = node;
  });
  nodes.positions = sums.map((sum, host) => (counts[host] ? sum / counts[host]! : 1));
  const isWhole = (host: number): boolean => firsts[host]! >= 0 && lasts[host]! - firsts[host]! + 1 === counts[host];
  nodes.members = nodes.labels.map((_, host) => (isWhole(host) || !counts[host] ? {} : { ranks: ranksOf(arcs, (node) => hostOf(node) === host) }));
  nodes.firstRanks = firsts.map((node, host) => (isWhole(host) ? arcs.firstRanks[node]! : 0));
  nodes.lastRanks = lasts.map((node, host) => (isWhole(host) ? arcs.lastRanks[node]! : -1));
}

function ranksOf({ firstRanks, lastRanks }: Nodes, isWanted: (node: number) => boolean): number[] {
  return firstRanks.flatMap((first, node) => (isWanted(node) ? Array.from({ length: lastRanks[node]! - first + 1 }, (_, at) => first + at) : []));
}
