/** Rows of a trace as typed arrays. A row is one request, or several that are merged. */

/** Data about the trace besides its rows, as `iomine/report/trace.py` writes them. */
export interface About {
  log_id: string;
  app: string | null;
  run_seconds: number;
  /** How long the axis of time is: longer than the run where another, longer one is shown on the same scale. */
  shown_seconds: number;
  rank_count: number;
  /** Resolution of start times in seconds: starts are whole multiples of it. */
  tick_seconds: number;
  request_count: number;
  layers: string[];
  ops: string[];
  files: string[];
  mounts: (string | null)[];
  /** The number of the mount of each file that stands by itself. */
  mount_of: number[];
  hosts: string[];
  tables: TableSource[];
  phases: Phase[];
  osts: OstUse[];
  highlights: Highlight[];
}

/** A table of rows: a block of the page, or a file beside it. */
export interface TableSource {
  /** What separates its rows, besides time. */
  by: "rank" | "offset" | "ost";
  /** Gap up to which requests are merged, in seconds, or bytes for `offset`; 0 if each request has a row of its own. */
  tolerance: number;
  rows: number;
  block?: string;
  href?: string;
}

export interface Phase {
  layer: string;
  phase: number;
  start_seconds: number;
  end_seconds: number;
  read_bytes: number | null;
  write_bytes: number | null;
  request_count: number | null;
  rank_count: number | null;
  fastest_rank: number | null;
  slowest_rank: number | null;
  fastest_rank_seconds: number | null;
  slowest_rank_seconds: number | null;
  straggler_count: number | null;
}

/** What one OST moved in one direction, each byte counted once. */
export interface OstUse {
  ost_id: number | null;
  op: string;
  request_count: number | null;
  moved_bytes: number | null;
  reason: string | null;
}

/** Requests that a finding is about: those that meet all its conditions. */
export interface Highlight {
  code: string;
  text: string;
  layers?: string[];
  ops?: string[];
  ranks?: number[];
  ost_ids?: number[];
  files?: number[];
  length_bytes_below?: number;
  seconds_from?: number;
  /** Whether it was chosen in another picture of the page. */
  isForeign?: boolean;
}

/** Stands for a number that is not known. */
export const UNKNOWN = -1;

/** Columns of a table. If a table does not have a column, it is not known for any row. */
export interface Columns {
  layer: ArrayLike<number>;
  op: ArrayLike<number>;
  start_ticks: ArrayLike<number>;
  seconds: ArrayLike<number>;
  rank?: ArrayLike<number>;
  host?: ArrayLike<number>;
  file_id?: ArrayLike<number>;
  ost_id?: ArrayLike<number>;
  /** An offset is offset_high × 2^31 + offset_low bytes; it is not known if offset_high is negative. */
  offset_high?: ArrayLike<number>;
  offset_low?: ArrayLike<number>;
  length_bytes?: ArrayLike<number>;
  request_count?: ArrayLike<number>;
  moved_bytes?: ArrayLike<number>;
  busy_seconds?: ArrayLike<number>;
}

export class Rows {
  readonly count: number;
  readonly layer: Uint8Array;
  readonly op: Uint8Array;
  readonly rank: Int32Array;
  readonly host: Int32Array;
  readonly file: Int32Array;
  readonly ost: Int32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  /** Bytes from the first byte of the row to its last. */
  readonly length: Float64Array;
  readonly requests: Float64Array;
  /** Bytes moved. */
  readonly bytes: Float64Array;
  /** Busy share of the time from start to end, 0 to 1. */
  readonly share: Float32Array;
  /** Whether rows may stand for several requests. */
  readonly isMerged: boolean;
  private offsets: Float64Array | undefined;

  constructor(
    private readonly columns: Columns,
    tickSeconds: number,
  ) {
    const count = columns.start_ticks.length;
    this.count = count;
    this.layer = new Uint8Array(columns.layer);
    this.op = new Uint8Array(columns.op);
    this.rank = integers(columns.rank, count);
    this.host = integers(columns.host, count);
    this.file = integers(columns.file_id, count);
    this.ost = integers(columns.ost_id, count);
    this.length = numbers(columns.length_bytes, count, UNKNOWN);
    this.requests = numbers(columns.request_count, count, 1);
    this.isMerged = columns.request_count !== undefined;
    this.bytes = columns.moved_bytes ? numbers(columns.moved_bytes, count, 0) : this.length;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.share = new Float32Array(count).fill(1);
    const { start_ticks: ticks, seconds, busy_seconds: busy } = columns;
    const { start, end, share } = this;
    for (let row = 0; row < count; row++) {
      const begin = ticks[row]! * tickSeconds;
      start[row] = begin;
      end[row] = begin + seconds[row]!;
    }
    if (busy) for (let row = 0; row < count; row++) if (seconds[row]! > 0) share[row] = Math.min(busy[row]! / seconds[row]!, 1);
  }

  get hasOffsets(): boolean {
    return Array.prototype.some.call(this.columns.offset_high ?? [], (high: number) => high >= 0);
  }

  /** First byte in the file; worked out when it is asked for, which the first picture does not. */
  get offset(): Float64Array {
    if (this.offsets) return this.offsets;
    const offsets = (this.offsets = new Float64Array(this.count).fill(UNKNOWN));
    const { offset_high: high, offset_low: low } = this.columns;
    if (high && low) for (let row = 0; row < this.count; row++) if (high[row]! >= 0) offsets[row] = high[row]! * 2 ** 31 + low[row]!;
    return offsets;
  }

  /** Bytes of a request of the row; the mean if several are merged. */
  requestBytes(row: number): number {
    return this.bytes[row]! / this.requests[row]!;
  }
}

function integers(values: ArrayLike<number> | undefined, count: number): Int32Array {
  if (values instanceof Int32Array) return values;
  return values ? new Int32Array(values) : new Int32Array(count).fill(UNKNOWN);
}

function numbers(values: ArrayLike<number> | undefined, count: number, otherwise: number): Float64Array {
  if (values instanceof Float64Array) return values;
  return values ? new Float64Array(values) : new Float64Array(count).fill(otherwise);
}
