/** What requests moved, by what they came from and went to: those of the page, or as a server has counted them. */

import type { Numbers, Part } from "./blocks";
import type { Metric } from "./radialdata";
import { type About, type Rows, UNKNOWN } from "./rows";

/** Requests of a trace in whole. */
export interface Requests {
  about: About;
  rows: Rows;
}

/** What a rank asked for (ring 0), or moved (ring 1), in a direction. */
export interface RankMoved {
  rank: number;
  host: string | null;
  ring: number;
  op: number;
  request_count: number | null;
  moved_bytes: number | null;
  /** The median. */
  latency_seconds: number | null;
}

/** Requests counted by what is known of them, a list for each field; what is not known is -1. */
export interface Moved {
  /** Why there are no requests, empty where there are. */
  lack: string;
  /** What is kept of single ranks that were asked for. */
  ranks: RankMoved[];
  /** The layer whose requests they are. */
  layer: string;
  /** Files, of which the last may be all others. */
  files: string[];
  /** Their numbers in the trace of the page, empty where they are not known. */
  numbersOf: number[][];
  /** Null where one is not known. */
  mounts: (string | null)[];
  /** The number of the mount of each file. */
  mountOf: number[];
  columns: Record<"op" | "metric" | "rank" | "ost" | "file" | "time" | "value" | "count" | "bytes" | "mean" | "least" | "most", Numbers>;
}

/** Bins of time. */
interface Time {
  bins: number;
  begin: number;
  width: number;
}

/** Files that stand by themselves, those with most bytes. */
const MOST_FILES = 64;
const LONGEST = 60;

/** As a server has counted them. */
export function movedOf({ about, arrays }: Part): Moved {
  return { ...(about as Omit<Moved, "columns" | "numbersOf">), numbersOf: [], columns: arrays as Moved["columns"] };
}

/** Requests of POSIX, or of MPI-IO where there are none, each with its latency and its size; of some ranks or of all. */
export function countedRequests({ about, rows }: Requests, metrics: Metric[], time: Time, isWanted: (rank: number) => boolean): Moved {
  const posix = about.layers.indexOf("posix");
  const layer = rows.layer.includes(posix) ? posix : about.layers.indexOf("mpiio");
  const found: number[] = [];
  for (let row = 0; row < rows.count; row++) if (rows.layer[row] === layer && rows.length[row]! > 0 && isWanted(rows.rank[row]!)) found.push(row);
  const files = topFiles(about, rows, found);
  const length = metrics.length * found.length;
  const column = (valueOf: (row: number, metric: number) => number): Float64Array => {
    const values = new Float64Array(length);
    metrics.forEach((_, metric) => found.forEach((row, at) => (values[metric * found.length + at] = valueOf(row, metric))));
    return values;
  };
  const valueOf = (row: number, metric: number): number => (metrics[metric]!.unit === "bytes" ? rows.length[row]! : rows.end[row]! - rows.start[row]!);
  const values = column(valueOf);
  return {
    ...{ lack: "", ranks: [], layer: about.layers[layer]! },
    ...{ files: files.names, numbersOf: files.numbersOf, mounts: about.mounts.map((mount) => mount && cut(mount)), mountOf: files.mountOf },
    columns: {
      op: column((row) => rows.op[row]!),
      metric: column((_, metric) => metric),
      rank: column((row) => rows.rank[row]!),
      ost: column((row) => rows.ost[row]!),
      file: column((row) => files.of(rows.file[row]!)),
      time: column((row) => Math.min(Math.max(Math.floor((rows.start[row]! - time.begin) / time.width), 0), time.bins - 1)),
      value: column((row, metric) => binOf(metrics[metric]!, valueOf(row, metric))),
      count: new Float64Array(length).fill(1),
      bytes: column((row) => rows.length[row]!),
      ...{ mean: values, least: values, most: values },
    },
  };
}

function binOf({ least, most, bins }: Metric, value: number): number {
  return Math.min(Math.max(Math.floor((bins * Math.log(value / least)) / Math.log(most / least)), 0), bins - 1);
}

/** The files with most bytes, and all others as one, of which the mount is not known. */
function topFiles(about: About, rows: Rows, found: number[]): { names: string[]; numbersOf: number[][]; mountOf: number[]; of: (file: number) => number } {
  const bytes = new Float64Array(about.files.length);
  for (const row of found) if (rows.file[row] !== UNKNOWN) bytes[rows.file[row]!]! += rows.length[row]!;
  const used = about.files.map((_, file) => file).filter((file) => bytes[file]! > 0);
  const top = used.sort((one, other) => bytes[other]! - bytes[one]!).slice(0, MOST_FILES);
  const place = new Map(top.map((file, at) => [file, at]));
  const others = used.slice(MOST_FILES);
  const rest = others.length > 0;
  return {
    names: [...top.map((file) => cut(about.files[file]!)), ...(rest ? ["all other files"] : [])],
    numbersOf: [...top.map((file) => [file]), ...(rest ? [others] : [])],
    mountOf: [...top.map((file) => about.mount_of[file] ?? UNKNOWN), ...(rest ? [UNKNOWN] : [])],
    of: (file) => place.get(file) ?? (file === UNKNOWN || !rest ? UNKNOWN : top.length),
  };
}

/** A name on a picture: no longer than its ends say, and signs that cannot be seen as escapes, as other names of the page. */
function cut(name: string): string {
  const seen = name.replace(/[\p{C}\p{Z}]/gu, (sign) => (sign === " " ? sign : escaped(sign.codePointAt(0)!)));
  return seen.length <= LONGEST ? seen : `${seen.slice(0, LONGEST / 2)}…${seen.slice(-LONGEST / 2)}`;
}

function escaped(code: number): string {
  const short = { 9: "\\t", 10: "\\n", 13: "\\r" }[code];
  const digits = (length: number): string => code.toString(16).padStart(length, "0");
  return short ?? (code < 0x100 ? `\\x${digits(2)}` : code < 0x10000 ? `\\u${digits(4)}` : `\\U${digits(8)}`);
}
