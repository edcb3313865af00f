/**
 * Loads rows: Parquet in the page, in a script beside it, or in files beside it. All are packed by gzip, which a browser
 * unpacks ten times as fast as a script would.
 */

import { parquetMetadata, parquetRead } from "hyparquet";
import { held, unpacked } from "./blocks";
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
  return new Rows(await columnsOf(await unpacked(packed)), tickSeconds);
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

/** Columns of a Parquet file, all of which are numbers. */
export async function columnsOf(file: ArrayBuffer): Promise<Columns> {
  const metadata = parquetMetadata(file, { geoparquet: false });
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
