/**
 * Loads rows: Parquet in the page, in a script beside it, or in files beside it. All are packed by gzip, which a browser
 * unpacks ten times as fast as a script would.
 */

import { parquetMetadata, parquetRead } from "hyparquet";
import { type About, type Columns, Rows, type TableSource } from "./rows";

declare global {
  /** Blocks by name, set by a script beside the page. A page that is opened from a file can load scripts, but no data files. */
  var iomineBlocks: Record<string, string> | undefined;
}

/** Data about a trace, with the tables that this page can load. */
export async function aboutOf(name: string): Promise<About> {
  const about = JSON.parse(new TextDecoder().decode(await unpacked(held(`${name}-about`)))) as About;
  const isReached = ({ block }: TableSource): boolean => block !== undefined || location.protocol !== "file:";
  return { ...about, tables: about.tables.filter(isReached) };
}

/** The rows of a table. */
export async function rowsOf(source: TableSource, tickSeconds: number): Promise<Rows> {
  const packed = source.block === undefined ? await fetched(source.href ?? "") : held(source.block);
  return new Rows(await columnsOf(await unpacked(packed)), tickSeconds);
}

function held(name: string): Uint8Array<ArrayBuffer> {
  const found = document.getElementById(name)?.textContent ?? globalThis.iomineBlocks?.[name];
  if (found === undefined) throw new Error("The data of the trace is missing. Copy all files of the report, not only the page.");
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(found);
  // Browsers before 2025 have no `fromBase64`.
  const text = atob(found);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

async function fetched(href: string): Promise<Uint8Array<ArrayBuffer>> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`${href} cannot be loaded: the server answers ${answer.status}.`);
  return new Uint8Array(await answer.arrayBuffer());
}

function unpacked(packed: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

/** Columns of a Parquet file, all of which are numbers. */
export async function columnsOf(file: ArrayBuffer): Promise<Columns> {
  const metadata = parquetMetadata(file);
  const count = Number(metadata.num_rows);
  const columns: Record<string, Float64Array | Float32Array | Int32Array> = {};
  for (const { name, type } of metadata.schema.slice(1)) {
    columns[name] = new (type === "INT32" ? Int32Array : type === "FLOAT" ? Float32Array : Float64Array)(count);
  }
  await parquetRead({
    file,
    metadata,
    onChunk({ columnName, columnData, rowStart }) {
      columns[columnName]!.set(columnData as ArrayLike<number>, rowStart);
    },
  });
  return columns as unknown as Columns;
}
