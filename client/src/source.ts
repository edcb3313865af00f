/** Loads rows: blocks in the page, in a script beside it, or in files beside it. */

import { held, type Part, read, unpacked } from "./blocks";
import { type About, type Columns, Rows, type TableSource } from "./rows";

/** Data about a trace, with the tables that this page can load. */
export async function aboutOf(name: string): Promise<About> {
  const about = JSON.parse(new TextDecoder().decode(await unpacked(block(`${name}-about`)))) as About & { shown_seconds?: number };
  const isReached = ({ block }: TableSource): boolean => block !== undefined || location.protocol !== "file:";
  return { ...about, shown_seconds: about.shown_seconds ?? about.run_seconds, tables: about.tables.filter(isReached) };
}

/** The rows of a table. */
export async function rowsOf(source: TableSource, tickSeconds: number): Promise<Rows> {
  const packed = source.block === undefined ? await fetched(source.href ?? "") : block(source.block);
  return new Rows(columnsOf(read(await unpacked(packed))), tickSeconds);
}

function block(name: string): Uint8Array<ArrayBuffer> {
  const found = held(name);
  if (!found) throw new Error("The data of the trace is missing. Copy all files of the report, not only the page.");
  return found;
}

async function fetched(href: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`${href} cannot be loaded: the server answers ${answer.status}.`);
  return new Uint8Array(await answer.arrayBuffer());
}

/** Columns of a block. Of those that are split, the lowest bytes of all numbers come first, then the next ones. */
export function columnsOf({ about, arrays }: Part): Columns {
  const { split } = about as { split: Record<string, "int32" | "float32"> };
  const joined = Object.entries(split).map(([name, type]) => [name, joinedBytes(arrays[name] as Uint8Array, type)]);
  return { ...arrays, ...Object.fromEntries(joined) } as unknown as Columns;
}

function joinedBytes(bytes: Uint8Array, type: "int32" | "float32"): Int32Array | Float32Array {
  const count = bytes.length / 4;
  const joined = new Int32Array(count);
  for (let at = 0; at < count; at++) {
    joined[at] = bytes[at]! | (bytes[at + count]! << 8) | (bytes[at + 2 * count]! << 16) | (bytes[at + 3 * count]! << 24);
  }
  return type === "int32" ? joined : new Float32Array(joined.buffer);
}
