/** Fields of a row, defined once for the tip, the list and the CSV. */

import * as format from "./format";
import { csvOf } from "./format";
import { type About, type Rows, UNKNOWN } from "./rows";

export interface Field {
  /** Name of the column in CSV, as in the lake. */
  name: string;
  label: string;
  value: (row: number) => number | string;
  shown: (row: number) => string;
}

const LAYER_NAMES: Record<string, string> = { mpiio: "MPI-IO", posix: "POSIX", stdio: "STDIO", all: "all layers" };

/** Name of a layer on the page. */
export function layerName(layer: string): string {
  return LAYER_NAMES[layer] ?? layer;
}

/** Fields of requests, without those that the table does not have. */
export function requestFields(rows: Rows, about: About): Field[] {
  const { isMerged } = rows;
  const text = (name: string, label: string, value: (row: number) => string, shown = value): Field => ({ name, label, value, shown });
  const number = (name: string, label: string, column: "rank" | "requests" | "bytes" | "offset" | "share" | "ost", shown: (value: number) => string): Field => ({
    name,
    label,
    value: (row) => (rows[column][row] === UNKNOWN ? "" : rows[column][row]!),
    shown: (row) => (rows[column][row] === UNKNOWN ? "not known" : shown(rows[column][row]!)),
  });
  const named = (name: string, label: string, column: ArrayLike<number>, names: string[]): Field =>
    text(name, label, (row) => names[column[row]!] ?? "");
  return [
    ...(isKnown(rows.rank) ? [number("rank", "Rank", "rank", String)] : []),
    ...(isKnown(rows.host) ? [named("host", "Host", rows.host, about.hosts)] : []),
    text("layer", "Layer", (row) => about.layers[rows.layer[row]!]!, (row) => layerName(about.layers[rows.layer[row]!]!)),
    named("op", "Operation", rows.op, about.ops),
    ...(isMerged ? [number("request_count", "Requests", "requests", format.whole)] : []),
    number("moved_bytes", isMerged ? "Bytes moved" : "Size", "bytes", (value) => `${format.bytes(value)} (${format.whole(value)} B)`),
    ...(rows.hasOffsets ? [number("offset_bytes", "Offset", "offset", (value) => `${format.bytes(value)} (${format.whole(value)} B)`)] : []),
    {
      name: "duration_seconds",
      label: "Duration",
      value: (row) => round(rows.end[row]! - rows.start[row]!),
      shown: (row) => format.seconds(rows.end[row]! - rows.start[row]!),
    },
    time("start_seconds", "Start", rows.start),
    time("end_seconds", "End", rows.end),
    ...(isMerged ? [number("busy_ratio", "Busy", "share", (value) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)}% of the duration`)] : []),
    ...(isKnown(rows.ost) ? [number("ost_id", "OST", "ost", format.ost)] : []),
    ...(isKnown(rows.file) ? [named("file", "File", rows.file, about.files)] : []),
  ];
}

/** Whether a column holds any value that is known. */
function isKnown(column: Int32Array): boolean {
  return column.some((value) => value !== UNKNOWN);
}

function time(name: string, label: string, column: Float64Array): Field {
  return {
    name,
    label,
    value: (row) => round(column[row]!),
    shown: (row) => `${column[row]!.toFixed(6).replace(/0{1,3}$/, "")} s`,
  };
}

/** Seconds rounded to nanoseconds, which removes noise of floating-point sums. */
function round(value: number): number {
  return Number(value.toFixed(9));
}

/** Rows as CSV. A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function csv(fields: Field[], rows: number[]): string {
  return csvOf([fields.map(({ name }) => name), ...rows.map((row) => fields.map(({ value }) => value(row)))]);
}
