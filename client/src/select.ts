/** Selects rows: those of a finding, and those of ranks that the person types. */

import type { About, Highlight, Rows } from "./rows";
import { UNKNOWN } from "./rows";

export type Test = (row: number) => boolean;

/** A test for the rows that a finding is about. A value that is not known meets every condition. */
export function isHighlighted(highlight: Highlight, rows: Rows, about: About): Test {
  const tests: Test[] = [];
  const among = (column: ArrayLike<number>, wanted: number[] | undefined): void => {
    if (!wanted) return;
    const set = new Set(wanted);
    tests.push((row) => column[row] === UNKNOWN || set.has(column[row]!));
  };
  among(rows.layer, highlight.layers?.map((layer) => about.layers.indexOf(layer)));
  among(rows.op, highlight.ops?.map((op) => about.ops.indexOf(op)));
  among(rows.rank, highlight.ranks);
  among(rows.ost, highlight.ost_ids);
  among(rows.file, highlight.files);
  const { length_bytes_below: bound, seconds_from: least } = highlight;
  if (bound !== undefined) tests.push((row) => rows.requestBytes(row) < bound);
  if (least !== undefined) tests.push((row) => ((rows.end[row]! - rows.start[row]!) * rows.share[row]!) / rows.requests[row]! >= least);
  return (row) => tests.every((test) => test(row));
}

/**
 * Parses ranks as people write them: `0-3, 8` is 0, 1, 2, 3 and 8. Undefined if the text is empty; throws if it is not a
 * list of ranks or names a rank that the run does not have.
 */
export function parseRanks(text: string, rankCount: number): Int32Array | undefined {
  if (!text.trim()) return undefined;
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(part);
    if (!match) throw new Error(`“${part.trim()}” is not a rank. Write ranks as 0-15, 32.`);
    const first = Number(match[1]);
    const last = Number(match[2] ?? match[1]);
    if (first > last || last >= rankCount) throw new Error(`Ranks go from 0 to ${rankCount - 1}: there is no “${part.trim()}”.`);
    for (let rank = first; rank <= last; rank++) found.add(rank);
  }
  return Int32Array.from(found).sort();
}

/** Ranks, ascending, as `parseRanks` reads them. */
export function ranksText(ranks: Int32Array): string {
  const parts: string[] = [];
  for (let at = 0; at < ranks.length; at++) {
    const first = ranks[at]!;
    while (ranks[at + 1] === ranks[at]! + 1) at++;
    parts.push(first === ranks[at] ? String(first) : `${first}-${ranks[at]}`);
  }
  return parts.join();
}
