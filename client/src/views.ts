/** The views of a trace: their lanes, their x axis, and the fields of their rows. */

import { LaneAxis, type XAxis } from "./axes";
import { type Field, layerName, requestFields } from "./fields";
import * as format from "./format";
import { Lanes } from "./lanes";
import { type About, type Phase, Rows, UNKNOWN } from "./rows";
import type { Chosen } from "./state";

export interface View {
  rows: Rows;
  lanes: Lanes;
  facets: string[];
  axis: LaneAxis;
  x: XAxis;
  fields: Field[];
  /** Whether rows are requests, which can be filtered and highlighted. */
  isOfRequests: boolean;
  /** What rows count, in the plural, and how many the whole run has. */
  noun: string;
  total: number;
  /** Message for a view without rows. */
  emptyText: string;
}

const NO_FACET = 255;
const OST = "OST";

function timeAxis(about: About): XAxis {
  return { kind: "time", title: "time since the start of the run", from: 0, to: about.shown_seconds, end: about.run_seconds, minSpan: 20 * about.tick_seconds };
}

function rankAxis(about: About, ranks: Int32Array | undefined): LaneAxis {
  return new LaneAxis("rank", ranks ? ranks.length : about.rank_count, ranks);
}

/** Facet of each row by its key. A key without rows gets no facet. */
function faceted(keyOf: Uint8Array, names: string[]): { facetOf: Uint8Array; facets: string[] } {
  const isUsed = new Uint8Array(256);
  for (let row = 0; row < keyOf.length; row++) isUsed[keyOf[row]!] = 1;
  const used = [...names.keys()].filter((key) => isUsed[key]);
  const facets = used.map((key) => names[key]!);
  // Keys that are all used, from 0 on, are facets.
  if (used.length === names.length) return { facetOf: keyOf, facets };
  const facet = new Uint8Array(256).fill(NO_FACET);
  used.forEach((key, at) => (facet[key] = at));
  return { facetOf: used.length === 1 && isUsed[NO_FACET] === 0 ? new Uint8Array(keyOf.length) : keyOf.map((key) => facet[key]!), facets };
}

function requestsOf(rows: Rows, about: About): Pick<View, "rows" | "fields" | "isOfRequests" | "noun" | "total"> {
  return { rows, fields: requestFields(rows, about), isOfRequests: true, noun: "requests", total: about.request_count };
}

/** Requests of each rank over time, MPI-IO above POSIX. */
export function ranksOverTime(rows: Rows, about: About): View {
  const { facetOf, facets } = faceted(rows.layer, about.layers.map(layerName));
  const lanes = new Lanes(facets.length, facetOf, rows.rank, rows.start, rows.end);
  const emptyText = "The trace holds no requests.";
  return { ...requestsOf(rows, about), lanes, facets, axis: rankAxis(about, undefined), x: timeAxis(about), emptyText };
}

/** The view with the lanes that are chosen: some ranks only, OSTs in the order of their numbers. */
export function withLanes(view: View, about: About, { ranks, isByNumber }: Pick<Chosen, "ranks" | "isByNumber">): View {
  const { name } = view.axis;
  return name === "rank" ? { ...view, axis: rankAxis(about, ranks) } : name === OST ? { ...view, axis: ostAxis(view.lanes, isByNumber) } : view;
}

/** Offsets of requests in their files, by rank, or by file if ranks are merged. */
export function offsets(rows: Rows, about: About): View {
  const names = about.layers.flatMap((layer) => about.ops.map((op) => `${layerName(layer)}, ${op}`));
  const isKnown = (row: number): boolean => rows.offset[row] !== UNKNOWN;
  const keyOf = rows.layer.map((layer, row) => (isKnown(row) ? layer * about.ops.length + rows.op[row]! : NO_FACET));
  const { facetOf, facets } = faceted(keyOf, names);
  const ends = rows.offset.map((offset, row) => offset + rows.length[row]!);
  const isByRank = rows.rank.some((rank) => rank !== UNKNOWN);
  const lanes = new Lanes(facets.length, facetOf, isByRank ? rows.rank : rows.file, rows.offset, ends);
  const axis = isByRank ? rankAxis(about, undefined) : new LaneAxis("file", about.files.length, undefined, about.files);
  const to = ends.reduce((highest, end) => Math.max(highest, end), 1);
  const x: XAxis = { kind: "offset", title: "offset in the file", from: 0, to, end: to, minSpan: 64 };
  return { ...requestsOf(rows, about), lanes, facets, axis, x, emptyText: "The trace has no offsets of requests." };
}

/** Requests by the OST that holds their first byte. */
export function ostsOverTime(rows: Rows, about: About): View {
  const facetOf = rows.ost.map((ost) => (ost === UNKNOWN ? NO_FACET : 0));
  const lanes = new Lanes(1, Uint8Array.from(facetOf), rows.ost, rows.start, rows.end);
  return { ...requestsOf(rows, about), lanes, facets: ["POSIX, by OST"], axis: ostAxis(lanes, false), x: timeAxis(about), emptyText: "The trace has no request whose OST is known." };
}

function ostAxis(lanes: Lanes, isByNumber: boolean): LaneAxis {
  const { values, firsts } = lanes.facets[0]!;
  if (isByNumber) return new LaneAxis(OST, values.length, values);
  const inTime = Array.from(values.keys()).sort((a, b) => lanes.begins[firsts[a]!]! - lanes.begins[firsts[b]!]! || a - b);
  return new LaneAxis(OST, values.length, Int32Array.from(inTime, (at) => values[at]!), undefined, "of first use");
}

/** Phases of each layer, and of all layers together. Reads and writes have a lane each: their phases may overlap. */
export function phases(about: About): View {
  const layers = [...new Set(about.phases.map(({ layer }) => layer))];
  const column = (value: (phase: Phase) => number): Float64Array => Float64Array.from(about.phases, value);
  const read = about.ops.indexOf("read");
  const write = about.ops.indexOf("write");
  const rows = new Rows(
    {
      layer: column(({ layer }) => layers.indexOf(layer)),
      op: column((phase) => ((phase.read_bytes ?? 0) > (phase.write_bytes ?? 0) ? read : write)),
      start_ticks: column((phase) => phase.start_seconds),
      seconds: column((phase) => phase.end_seconds - phase.start_seconds),
      rank: column((phase) => phase.slowest_rank ?? UNKNOWN),
      moved_bytes: column((phase) => (phase.read_bytes ?? 0) + (phase.write_bytes ?? 0)),
    },
    1,
  );
  const lanes = new Lanes(layers.length, rows.layer, Int32Array.from(rows.op), rows.start, rows.end);
  const axis = new LaneAxis("direction", about.ops.length, undefined, about.ops);
  return {
    ...{ rows, lanes, axis, facets: layers.map(layerName), x: timeAxis(about), fields: phaseFields(about) },
    ...{ isOfRequests: false, noun: "phases", total: about.phases.length, emptyText: "The log has no phases." },
  };
}

function phaseFields(about: About): Field[] {
  const field = (
    name: string,
    label: string,
    value: (phase: Phase) => number | string | null,
    shown: (value: number) => string = String,
  ): Field => ({
    name,
    label,
    value: (row) => value(about.phases[row]!) ?? "",
    shown: (row) => {
      const found = value(about.phases[row]!);
      return found === null ? "not known" : typeof found === "number" ? shown(found) : found;
    },
  });
  const at = (value: number): string => `${value.toFixed(3)} s`;
  return [
    field("layer", "Layer", ({ layer }) => layerName(layer)),
    field("phase", "Phase", ({ phase }) => phase),
    field("start_seconds", "Start", (phase) => phase.start_seconds, at),
    field("end_seconds", "End", (phase) => phase.end_seconds, at),
    field("duration_seconds", "Duration", (phase) => phase.end_seconds - phase.start_seconds, format.seconds),
    field("read_bytes", "Read", (phase) => phase.read_bytes, format.bytes),
    field("write_bytes", "Written", (phase) => phase.write_bytes, format.bytes),
    field("request_count", "Requests", (phase) => phase.request_count, format.whole),
    field("rank_count", "Ranks", (phase) => phase.rank_count, format.whole),
    field("fastest_rank", "Fastest rank", (phase) => phase.fastest_rank),
    field("fastest_rank_seconds", "Fastest rank's time", (phase) => phase.fastest_rank_seconds, format.seconds),
    field("slowest_rank", "Slowest rank", (phase) => phase.slowest_rank),
    field("slowest_rank_seconds", "Slowest rank's time", (phase) => phase.slowest_rank_seconds, format.seconds),
    field("straggler_count", "Stragglers", (phase) => phase.straggler_count, format.whole),
  ];
}
