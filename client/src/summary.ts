/** Summarises a view in words and tables, for readers who cannot see the picture or who want numbers. */

import { button, element, table } from "./dom";
import { layerName } from "./fields";
import * as format from "./format";
import type { Palette } from "./palette";
import type { Picture } from "./picture";
import type { Domain } from "./raster";
import type { About, OstUse, TableSource } from "./rows";
import type { View } from "./views";

/** Sums over the rows of a facet that have one colour. */
export interface Sums {
  facet: string;
  colour: string;
  requests: number;
  bytes: number;
  seconds: number;
  /** Seconds of the longest request; NaN if requests are merged. */
  longest: number;
}

/** Sums over the rows in sight. */
export function inSight({ rows, lanes, facets }: View, picture: Picture, palette: Palette, colours: Uint8Array): Sums[] {
  const sums = facets.map((facet) => palette.colours.map(({ name }): Sums => ({ facet, colour: name, requests: 0, bytes: 0, seconds: 0, longest: 0 })));
  picture.each((place, facet) => {
    const row = lanes.rows[place]!;
    const sum = sums[facet]![colours[place]!]!;
    const seconds = (rows.end[row]! - rows.start[row]!) * rows.share[row]!;
    sum.requests += rows.requests[row]!;
    sum.bytes += rows.bytes[row]!;
    sum.seconds += seconds;
    // For merged requests only the sum is known. Math.max keeps NaN.
    sum.longest = Math.max(sum.longest, rows.requests[row]! > 1 ? NaN : seconds);
  });
  return sums.flat().filter(({ requests }) => requests > 0);
}

/** What is in sight, and whether requests are merged. */
export function sentence(sums: Sums[], view: View, domain: Domain, source: TableSource | undefined, pixel: number): string {
  const { axis, x, noun, total } = view;
  if (!view.lanes.rows.length) return view.emptyText;
  const count = sums.reduce((sum, { requests }) => sum + requests, 0);
  const step = (domain.to - domain.from) / 1000;
  const shown = x.kind === "time" ? (at: number): string => format.clock(at, step) : format.bytes;
  const [first, last] = [axis.label(domain.top), axis.label(domain.bottom - 1)];
  const laneCount = domain.bottom - domain.top;
  const ends = axis.order ? `in order ${axis.order}, ${first} first and ${last} last` : `${first} ${laneCount === 2 ? "and" : "to"} ${last}`;
  const lanes = laneCount === 1 ? `${axis.name} ${first}` : `${format.whole(laneCount)} ${axis.name}s (${ends})`;
  const shownRows = `In sight: ${format.whole(count)} of ${format.whole(total)} ${noun}, from ${shown(domain.from)} to ${shown(domain.to)}, ${lanes}.`;
  const tolerance = source?.tolerance ?? 0;
  if (tolerance === 0 || x.kind !== "time") return shownRows;
  const finest = tolerance > pixel ? " The page has no finer detail of this trace." : "";
  return `${shownRows} Requests of a rank less than ${format.seconds(tolerance)} apart are drawn as one.${finest}`;
}

/** The sums as a table. */
export function sumTable(sums: Sums[], palette: Palette): HTMLTableElement {
  const rows = sums.map(({ facet, colour, requests, bytes, seconds, longest }) => [
    ...[facet, colour, format.whole(requests), format.bytes(bytes), format.seconds(seconds), known(Number.isNaN(longest) ? null : longest, format.seconds)],
  ]);
  return table("What is in sight", ["", palette.title, "Requests", "Bytes", "Time in requests", "Longest"], rows);
}

/** What each OST moved in the whole run. */
export function ostTable(about: About): HTMLTableElement {
  const most = Math.max(...about.osts.map(({ moved_bytes }) => moved_bytes ?? 0), 1);
  const uses = new Map<string, OstUse[]>();
  for (const use of about.osts) {
    const name = use.ost_id === null ? `not known: ${use.reason ?? "the log does not say"}` : format.ost(use.ost_id);
    uses.set(name, [...(uses.get(name) ?? []), use]);
  }
  const cells = (use: OstUse | undefined): (string | Node)[] => {
    if (!use) return ["", "", ""];
    const bar = element("span", { class: `bar ${use.op}` });
    bar.style.width = `${(100 * (use.moved_bytes ?? 0)) / most}%`;
    return [known(use.request_count, format.whole), known(use.moved_bytes, format.bytes), bar];
  };
  const rows = [...uses].map(([name, found]) => [name, ...about.ops.flatMap((op) => cells(found.find((use) => use.op === op)))]);
  const head = about.ops.flatMap((op) => [`Requests, ${op}`, `Bytes, ${op}`, ""]);
  return table("What each OST moved in the whole run, each byte counted once", ["OST", ...head], rows);
}

/** Columns of the table of phases: the label, and the names of the fields in a cell. */
const PHASE_COLUMNS: readonly (readonly string[])[] = [
  ["Layer", "layer"],
  ["Phase", "phase"],
  ["Start", "start_seconds"],
  ["Duration", "duration_seconds"],
  ["Read", "read_bytes"],
  ["Written", "write_bytes"],
  ["Requests", "request_count"],
  ["Ranks", "rank_count"],
  ["Fastest", "fastest_rank", "fastest_rank_seconds"],
  ["Slowest", "slowest_rank", "slowest_rank_seconds"],
  ["Stragglers", "straggler_count"],
];

/** All phases, each with a button that shows it. */
export function phaseTable(view: View, about: About, show: (from: number, to: number) => void): HTMLTableElement {
  const fields = new Map(view.fields.map((field) => [field.name, field]));
  // A rank and its time share a cell, so that all columns have room.
  const cells = ([, ...names]: readonly string[], row: number): string => names.map((name) => fields.get(name)!.shown(row)).join(": ");
  const rows = about.phases.map((phase, row) => [
    ...PHASE_COLUMNS.map((column) => cells(column, row)),
    button("Show", `Show the requests of phase ${phase.phase} of ${layerName(phase.layer)}`, () => show(phase.start_seconds, phase.end_seconds)),
  ]);
  return table("Phases; of the fastest and the slowest rank, the time in requests", [...PHASE_COLUMNS.map(([label]) => label!), ""], rows);
}

function known(value: number | null, shown: (value: number) => string): string {
  return value === null ? "not known" : shown(value);
}
