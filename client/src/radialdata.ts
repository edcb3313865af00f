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

/** Nodes of a circle, a list for each field; a field that is not known of any is empty. */
export interface Nodes {
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
}

export interface About {
  title: string;
  circles: Nodes[];
  metrics: Metric[];
  ops: string[];
  /** Bins of time: seconds since the start of the run, or hours of a night. */
  time: { bins: number; begin: number; width: number; kind: "run" | "hours" };
  /** What is missing: the sentence, of which ring, direction and metric; -1 for any. */
  missing: { ring: number; op: number; metric: number; text: string }[];
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

/** Edges of a ring in one direction, with the values of a metric. A piece is a bin of values of an edge. */
export class Ring {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly edgeCount: number;
  /** The first bin that holds a value of the whole time, and how many there are up to the last. */
  readonly firstBin: number;
  readonly bins: number;
  /** Cells in the order of time, so that those of a window follow each other. */
  private readonly rows: Uint32Array;
  private readonly piece: Uint32Array;
  private readonly time: Uint8Array;
  /** The first cell of each bin of time, and after the last. */
  private readonly starts: Uint32Array;

  constructor(
    private readonly data: RadialData,
    ring: number,
    op: number,
    metric: number,
  ) {
    const { about } = data;
    const { from, to, edgeOf } = data.edges(ring, op);
    [this.from, this.to, this.edgeCount] = [from, to, from.length];
    const cells = data.cellsOf(ring, op, metric);
    let [first, last] = [about.metrics[metric]!.bins, -1];
    for (const cell of cells) {
      first = Math.min(first, data.value[cell]!);
      last = Math.max(last, data.value[cell]!);
    }
    this.firstBin = last < 0 ? 0 : first;
    this.bins = Math.max(last - first + 1, 0);
    const starts = (this.starts = new Uint32Array(about.time.bins + 1));
    for (const cell of cells) starts[data.time[cell]! + 1]!++;
    for (let bin = 0; bin < about.time.bins; bin++) starts[bin + 1]! += starts[bin]!;
    const next = starts.slice();
    this.rows = new Uint32Array(cells.length);
    this.piece = new Uint32Array(cells.length);
    this.time = new Uint8Array(cells.length);
    for (const cell of cells) {
      const at = next[data.time[cell]!]!++;
      this.rows[at] = cell;
      this.piece[at] = edgeOf[cell]! * this.bins + data.value[cell]! - this.firstBin;
      this.time[at] = data.time[cell]!;
    }
  }

  /** How many requests of each piece there are in a window. */
  counts({ from, to }: Window): Uint32Array {
    const found = new Uint32Array(this.edgeCount * this.bins);
    const { piece, rows, data } = this;
    for (let at = this.starts[from]!; at < this.starts[to]!; at++) found[piece[at]!]! += data.count[rows[at]!]!;
    return found;
  }

  /** Sums by edge in a window. */
  byEdge({ from, to }: Window): Sums {
    const sums = emptySums(this.edgeCount);
    for (let at = this.starts[from]!; at < this.starts[to]!; at++) this.add(sums, Math.floor(this.piece[at]! / this.bins), this.rows[at]!);
    return sums;
  }

  /** Sums by bin of time, of all edges or of some. */
  byTime(isWanted?: (edge: number) => boolean): Sums {
    const sums = emptySums(this.starts.length - 1);
    for (let at = 0; at < this.rows.length; at++) {
      if (!isWanted || isWanted(Math.floor(this.piece[at]! / this.bins))) this.add(sums, this.time[at]!, this.rows[at]!);
    }
    return sums;
  }

  private add(sums: Sums, place: number, cell: number): void {
    const { data } = this;
    const count = data.count[cell]!;
    sums.count[place]! += count;
    sums.bytes[place]! += data.bytes[cell]!;
    sums.sum[place]! += data.mean(cell) * count;
    sums.least[place] = Math.min(sums.least[place]!, data.least(cell));
    sums.most[place] = Math.max(sums.most[place]!, data.most(cell));
  }
}

export class RadialData {
  readonly about: About;
  readonly ring: Numbers;
  readonly metric: Numbers;
  readonly op: Numbers;
  readonly from: Numbers;
  readonly to: Numbers;
  readonly time: Numbers;
  readonly value: Numbers;
  readonly count: Numbers;
  readonly bytes: Numbers;
  private readonly meanCode: Numbers;
  private readonly leastCode: Numbers;
  private readonly mostCode: Numbers;
  /** Different values, which the codes of cells are numbers of. */
  private readonly numbers: Numbers;
  private readonly known = new Map<string, { from: Uint32Array; to: Uint32Array; edgeOf: Uint32Array }>();

  constructor({ about, arrays }: Part) {
    this.about = about as About;
    const of = (name: string): Numbers => arrays[name]!;
    [this.ring, this.metric, this.op] = [of("ring"), of("metric"), of("op")];
    [this.from, this.to, this.time, this.value] = [of("from"), of("to"), of("time"), of("value")];
    [this.count, this.bytes] = [of("count"), of("bytes")];
    [this.meanCode, this.leastCode, this.mostCode] = [of("mean"), of("least"), of("most")];
    this.numbers = of("numbers");
  }

  mean(cell: number): number {
    return this.numbers[this.meanCode[cell]!]!;
  }

  least(cell: number): number {
    return this.numbers[this.leastCode[cell]!]!;
  }

  most(cell: number): number {
    return this.numbers[this.mostCode[cell]!]!;
  }

  /** Edges of a ring in a direction, in the order of both ends, whatever is known of them; and the edge of each of its cells. */
  edges(ring: number, op: number): { from: Uint32Array; to: Uint32Array; edgeOf: Uint32Array } {
    const name = `${ring} ${op}`;
    let found = this.known.get(name);
    if (found) return found;
    const width = this.about.circles[ring + 1]!.labels.length;
    const keys = new Set<number>();
    const cells: number[] = [];
    for (let cell = 0; cell < this.ring.length; cell++) {
      if (this.ring[cell] !== ring || this.op[cell] !== op) continue;
      cells.push(cell);
      keys.add(this.from[cell]! * width + this.to[cell]!);
    }
    const sorted = Float64Array.from(keys).sort();
    const placeOf = new Map<number, number>();
    sorted.forEach((key, place) => placeOf.set(key, place));
    const edgeOf = new Uint32Array(this.ring.length);
    for (const cell of cells) edgeOf[cell] = placeOf.get(this.from[cell]! * width + this.to[cell]!)!;
    found = { from: Uint32Array.from(sorted, (key) => Math.floor(key / width)), to: Uint32Array.from(sorted, (key) => key % width), edgeOf };
    this.known.set(name, found);
    return found;
  }

  /** Cells with values of a metric. */
  cellsOf(ring: number, op: number, metric: number): Uint32Array {
    const found = new Uint32Array(this.ring.length);
    let length = 0;
    for (let cell = 0; cell < found.length; cell++) {
      if (this.ring[cell] === ring && this.op[cell] === op && this.metric[cell] === metric) found[length++] = cell;
    }
    return found.subarray(0, length);
  }

  /** How many requests there are in each direction. */
  requestsOf(op: number, metric: number): number {
    let count = 0;
    for (let cell = 0; cell < this.ring.length; cell++) if (this.op[cell] === op && this.metric[cell] === metric) count += this.count[cell]!;
    return count;
  }

  /** The lower end of a bin of values. */
  lowerEnd(metric: number, bin: number): number {
    const { least, most, bins } = this.about.metrics[metric]!;
    // Without the last digits, 1 ms is not 999.99 µs.
    return Number((least * (most / least) ** (bin / bins)).toPrecision(12));
  }

  /** The value that half of the requests do not exceed, within a bin by its logarithm; NaN where there is none. */
  median(metric: number, ring: Ring, counts: Uint32Array, edges: Iterable<number>): number {
    const sums = new Float64Array(ring.bins);
    for (const edge of edges) for (let bin = 0; bin < ring.bins; bin++) sums[bin]! += counts[edge * ring.bins + bin]!;
    const half = sums.reduce((sum, count) => sum + count, 0) / 2;
    if (!half) return NaN;
    let below = 0;
    let bin = 0;
    while (below + sums[bin]! < half) below += sums[bin++]!;
    return this.lowerEnd(metric, ring.firstBin + bin + (half - below) / sums[bin]!);
  }
}

function emptySums(length: number): Sums {
  const zeros = (): Float64Array => new Float64Array(length);
  return { count: zeros(), bytes: zeros(), sum: zeros(), least: zeros().fill(Infinity), most: zeros() };
}
