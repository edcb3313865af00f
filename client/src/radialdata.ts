/** Edges of a run or of a night: how many requests of which value in which bin of time went over each. */

import type { Numbers, Part } from "./blocks";

export const OUTER = 0;
export const INNER = 1;

/** What is drawn on an axis of values, which are binned by their logarithm. */
export interface Metric {
  name: string;
  title: string;
  unit: "seconds" | "bytes" | "seconds/MiB" | "requests";
  least: number;
  most: number;
  bins: number;
}

/** What nodes of a circle can be in the picture of a run. */
export type Kind = "rank" | "host" | "carrier" | "ost" | "oss" | "mount" | "place" | "file";

/** Requests of a node: those of any of these ranks, on any of these OSTs and any of these files, by number. */
export interface Members {
  ranks?: number[];
  osts?: number[];
  files?: number[];
}

/** Nodes of a circle, a list for each field; a field that is not known of any is empty. */
export interface Nodes {
  /** Empty where circles cannot be chosen. */
  kind: Kind | "";
  one: string;
  many: string;
  labels: string[];
  /** The host of a node, or whatever else it belongs to. */
  hosts: (string | null)[];
  /** Where its ranks lie, from 0 to 1. */
  positions: number[];
  firstRanks: number[];
  lastRanks: number[];
  /** Numbers that the trace knows OSTs by. */
  osts: number[];
  /** Addresses of what there is to read of a node. */
  links: (string | null)[];
  /** What else the trace knows nodes by, where it is more than neighbouring ranks or an OST. */
  members?: Members[];
}

export interface About {
  title: string;
  circles: Nodes[];
  metrics: Metric[];
  ops: string[];
  /** What is counted. */
  counts: "request" | "pair";
  /** Bins of time: seconds since the start of the run, or hours of a night. */
  time: { bins: number; begin: number; width: number; kind: "run" | "hours" };
  /** What is missing: the sentence, of which ring, direction and metric; -1 for any. */
  missing: { ring: number; op: number; metric: number; text: string }[];
}

/** Columns of cells: what they are of, how many requests and bytes they stand for, and the values of these. */
export interface Cells {
  ring: Numbers;
  op: Numbers;
  metric: Numbers;
  from: Numbers;
  to: Numbers;
  time: Numbers;
  value: Numbers;
  count: Numbers;
  bytes: Numbers;
  mean: Numbers;
  least: Numbers;
  most: Numbers;
}

/** Bins of time from the first up to, not including, the last. */
export interface Window {
  from: number;
  to: number;
}

/** What went over each edge, or through each bin of time. */
export interface Sums {
  count: Float64Array;
  bytes: Float64Array;
  sum: Float64Array;
  least: Float64Array;
  most: Float64Array;
}

/** Requests in sight, of some edges of a ring. */
export interface Sight {
  /** Edges over which any went. */
  edges: number[];
  count: number;
  /** How many there are by bin of values. */
  byBin: Float64Array;
}

/** Edges of a ring in one direction, with the values of a metric. A piece is a bin of values of an edge. */
export class Ring {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly edgeCount: number;
  /** The first bin that holds a value of the whole time, and how many there are up to the last. */
  readonly firstBin: number;
  readonly bins: number;
  /** Cells in the order of time, so that those of a window follow each other; and the first of each bin of time. */
  private readonly piece: Uint32Array;
  private readonly time: Uint8Array;
  private readonly count: Uint32Array;
  private readonly bytes: Float64Array;
  private readonly mean: Float64Array;
  private readonly least: Float64Array;
  private readonly most: Float64Array;
  private readonly starts: Uint32Array;

  constructor(data: RadialData, ring: number, op: number, metric: number) {
    const { about, cells } = data;
    const { from, to, placeOf } = data.edges(ring, op);
    [this.from, this.to, this.edgeCount] = [from, to, from.length];
    const [begin, end] = data.range(ring, op, metric);
    const values = cells.value;
    let [first, last] = [about.metrics[metric]!.bins, -1];
    for (let cell = begin; cell < end; cell++) [first, last] = [Math.min(first, values[cell]!), Math.max(last, values[cell]!)];
    this.firstBin = last < 0 ? 0 : first;
    this.bins = Math.max(last - first + 1, 0);
    const times = cells.time;
    const starts = (this.starts = new Uint32Array(about.time.bins + 1));
    for (let cell = begin; cell < end; cell++) starts[times[cell]! + 1]!++;
    for (let bin = 0; bin < about.time.bins; bin++) starts[bin + 1]! += starts[bin]!;
    // Where each cell goes in the order of time.
    const next = starts.slice();
    const places = new Uint32Array(end - begin);
    for (let cell = begin; cell < end; cell++) places[cell - begin] = next[times[cell]!]!++;
    const ordered = <Kind extends Numbers>(found: Kind, valueOf: (cell: number) => number): Kind => {
      for (let cell = begin; cell < end; cell++) found[places[cell - begin]!] = valueOf(cell);
      return found;
    };
    const length = end - begin;
    this.time = ordered(new Uint8Array(length), (cell) => times[cell]!);
    this.count = ordered(new Uint32Array(length), (cell) => cells.count[cell]!);
    this.bytes = ordered(new Float64Array(length), (cell) => cells.bytes[cell]!);
    this.mean = ordered(new Float64Array(length), (cell) => cells.mean[cell]!);
    this.least = ordered(new Float64Array(length), (cell) => cells.least[cell]!);
    this.most = ordered(new Float64Array(length), (cell) => cells.most[cell]!);
    const edge = placeOf(begin, end);
    this.piece = ordered(new Uint32Array(length), (cell) => edge[cell - begin]! * this.bins + values[cell]! - this.firstBin);
  }

  /** How many requests of each piece there are in a window. */
  counts({ from, to }: Window): Uint32Array {
    const found = new Uint32Array(this.edgeCount * this.bins);
    const { piece, count } = this;
    for (let at = this.starts[from]!; at < this.starts[to]!; at++) found[piece[at]!]! += count[at]!;
    return found;
  }

  /** What there is in sight of some edges. */
  sight(counts: Uint32Array, wanted: Iterable<number>): Sight {
    const found: Sight = { edges: [], count: 0, byBin: new Float64Array(this.bins) };
    for (const edge of wanted) {
      const before = found.count;
      for (let bin = 0, piece = edge * this.bins; bin < this.bins; bin++, piece++) {
        found.byBin[bin]! += counts[piece]!;
        found.count += counts[piece]!;
      }
      if (found.count > before) found.edges.push(edge);
    }
    return found;
  }

  /** Edges that touch a node of either circle. */
  edgesOf(isWanted: (from: number, to: number) => boolean): Uint32Array {
    const found = new Uint32Array(this.edgeCount);
    let length = 0;
    for (let edge = 0; edge < this.edgeCount; edge++) if (isWanted(this.from[edge]!, this.to[edge]!)) found[length++] = edge;
    return found.subarray(0, length);
  }

  /** Sums by edge in a window. */
  byEdge({ from, to }: Window): Sums {
    const sums = emptySums(this.edgeCount);
    for (let at = this.starts[from]!; at < this.starts[to]!; at++) this.add(sums, Math.floor(this.piece[at]! / this.bins), at);
    return sums;
  }

  /** Sums by bin of time, of all edges or of some. */
  byTime(isWanted?: (edge: number) => boolean): Sums {
    const sums = emptySums(this.starts.length - 1);
    for (let at = 0; at < this.piece.length; at++) {
      if (!isWanted || isWanted(Math.floor(this.piece[at]! / this.bins))) this.add(sums, this.time[at]!, at);
    }
    return sums;
  }

  private add(sums: Sums, place: number, at: number): void {
    sums.count[place]! += this.count[at]!;
    sums.bytes[place]! += this.bytes[at]!;
    sums.sum[place]! += this.mean[at]! * this.count[at]!;
    if (this.least[at]! < sums.least[place]!) sums.least[place] = this.least[at]!;
    if (this.most[at]! > sums.most[place]!) sums.most[place] = this.most[at]!;
  }
}

export class RadialData {
  /** The first cell of each ring, direction and metric, and after the last. */
  private readonly ranges = new Map<string, [number, number]>();
  private readonly known = new Map<string, { from: Uint32Array; to: Uint32Array; placeOf: (begin: number, end: number) => Uint32Array }>();

  /** @param cells those of a ring, direction and metric follow each other */
  constructor(
    readonly about: About,
    readonly cells: Cells,
  ) {
    const { ring: rings, op: ops, metric: metrics } = cells;
    for (let cell = 0, begin = 0; cell < rings.length; cell++) {
      const after = cell + 1;
      if (rings[after] === rings[cell] && ops[after] === ops[cell] && metrics[after] === metrics[cell]) continue;
      this.ranges.set(`${rings[cell]} ${ops[cell]} ${metrics[cell]}`, [begin, after]);
      begin = after;
    }
  }

  /** What a page holds, as `iomine/report/circles.py` writes it: values are places in a list of numbers. */
  static of({ about, arrays }: Part): RadialData {
    const column = (name: string): Numbers => arrays[name]!;
    const [numbers, mean, count, bytes] = [column("numbers"), column("mean"), column("count"), column("bytes")];
    // The mean of the bytes has no number of its own.
    const meanOf = (cell: number): number => (mean[cell] ? numbers[mean[cell]!]! : bytes[cell]! / count[cell]!);
    const endOf = (cell: number, far: number, sign: 1 | -1): number =>
      mean[cell] ? numbers[mean[cell]! + sign * far]! : far ? numbers[far]! : meanOf(cell);
    const decoded = (valueOf: (cell: number) => number): Float64Array => {
      const found = new Float64Array(mean.length);
      for (let cell = 0; cell < found.length; cell++) found[cell] = valueOf(cell);
      return found;
    };
    const [least, most] = [column("least"), column("most")];
    const values = { mean: decoded(meanOf), least: decoded((cell) => endOf(cell, least[cell]!, -1)), most: decoded((cell) => endOf(cell, most[cell]!, 1)) };
    return new RadialData(about as About, { ...(arrays as unknown as Cells), ...values });
  }

  /** The first cell with values of a metric, and the one after the last. */
  range(ring: number, op: number, metric: number): [number, number] {
    return this.ranges.get(`${ring} ${op} ${metric}`) ?? [0, 0];
  }

  /** Edges of a ring in a direction, in the order of both ends, whatever is known of them; and what finds the edge of cells. */
  edges(ring: number, op: number): { from: Uint32Array; to: Uint32Array; placeOf: (begin: number, end: number) => Uint32Array } {
    const name = `${ring} ${op}`;
    let found = this.known.get(name);
    if (found) return found;
    const width = this.about.circles[ring + 1]!.labels.length;
    const { from, to } = this.cells;
    const keyOf = (cell: number): number => from[cell]! * width + to[cell]!;
    const keys = new Set<number>();
    this.about.metrics.forEach((_, metric) => {
      const [begin, end] = this.range(ring, op, metric);
      // Mostly cells of an edge follow each other.
      for (let cell = begin, last = -1; cell < end; cell++) if (keyOf(cell) !== last) keys.add((last = keyOf(cell)));
    });
    const sorted = Float64Array.from(keys).sort();
    const placeOfKey = new Map(Array.from(sorted, (key, place) => [key, place]));
    const placeOf = (begin: number, end: number): Uint32Array => {
      const places = new Uint32Array(end - begin);
      for (let cell = begin, last = -1, place = 0; cell < end; cell++) {
        if (keyOf(cell) !== last) place = placeOfKey.get((last = keyOf(cell)))!;
        places[cell - begin] = place;
      }
      return places;
    };
    found = { from: Uint32Array.from(sorted, (key) => Math.floor(key / width)), to: Uint32Array.from(sorted, (key) => key % width), placeOf };
    this.known.set(name, found);
    return found;
  }

  /** How many requests have a value of a metric, in all rings. */
  requestsOf(op: number, metric: number): number {
    const { count } = this.cells;
    let sum = 0;
    for (let ring = 0; ring + 1 < this.about.circles.length; ring++) {
      const [begin, end] = this.range(ring, op, metric);
      for (let cell = begin; cell < end; cell++) sum += count[cell]!;
    }
    return sum;
  }

  /** The lower end of a bin of values. */
  lowerEnd(metric: number, bin: number): number {
    const { least, most, bins } = this.about.metrics[metric]!;
    // Without the last digits, 1 ms is not 999.99 µs.
    return Number((least * (most / least) ** (bin / bins)).toPrecision(12));
  }

  /** The value that half of the requests do not exceed, within a bin by its logarithm; NaN where there is none. */
  median(metric: number, ring: Ring, { byBin, count }: Sight): number {
    if (!count) return NaN;
    let below = 0;
    let bin = 0;
    while (below + byBin[bin]! < count / 2) below += byBin[bin++]!;
    return this.lowerEnd(metric, ring.firstBin + bin + (count / 2 - below) / byBin[bin]!);
  }
}

function emptySums(length: number): Sums {
  const zeros = (): Float64Array => new Float64Array(length);
  return { count: zeros(), bytes: zeros(), sum: zeros(), least: zeros().fill(Infinity), most: zeros() };
}
