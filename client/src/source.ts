/** Where rows come from: Parquet in the page, or in files beside it. */

import { decompress } from "fzstd";
import { parquetMetadata, parquetRead } from "hyparquet";
import { type About, type Columns, Rows, type TableSource } from "./rows";

const COMPRESSORS = { ZSTD: (input: Uint8Array, length: number): Uint8Array => decompress(input, new Uint8Array(length)) };

/** What a section's page says about its trace. */
export function aboutOf(section: HTMLElement): About {
  const block = document.getElementById(section.dataset["trace"] ?? "");
  if (!block) throw new Error("The page has no data block for the trace.");
  return JSON.parse(block.textContent ?? "") as About;
}

/** The rows of a table. */
export async function rowsOf(source: TableSource, tickSeconds: number): Promise<Rows> {
  const file = source.block === undefined ? await fetched(source.href ?? "") : embedded(source.block);
  return new Rows(await columnsOf(file), tickSeconds);
}

function embedded(id: string): ArrayBuffer {
  const text = atob(document.getElementById(id)?.textContent?.trim() ?? "");
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes.buffer;
}

async function fetched(href: string): Promise<ArrayBuffer> {
  const answer = await fetch(href);
  if (!answer.ok) throw new Error(`${href} cannot be read: the server says ${answer.status}.`);
  return answer.arrayBuffer();
}

/** Columns of a Parquet file, all of which are numbers. */
export async function columnsOf(file: ArrayBuffer): Promise<Columns> {
  const metadata = parquetMetadata(file);
  const count = Number(metadata.num_rows);
  const columns: Record<string, Float64Array> = {};
  for (const { name } of metadata.schema.slice(1)) columns[name] = new Float64Array(count);
  await parquetRead({
    file,
    metadata,
    compressors: COMPRESSORS,
    onChunk({ columnName, columnData, rowStart }) {
      const column = columns[columnName]!;
      column.set(columnData as ArrayLike<number>, rowStart);
    },
  });
  return columns as unknown as Columns;
}
