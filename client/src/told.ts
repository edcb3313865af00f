/** A view in words and tables: for those who cannot see it, and for all who want numbers. */

import { button, element, table } from "./dom";
import { layerName } from "./fields";
import * as format from "./format";
import type { Palette } from "./palette";
import type { Picture } from "./picture";
import type { Domain } from "./raster";
import type { About, TableSource } from "./rows";
import type { View } from "./views";

/** Sums over rows in sight. */
interface Sums {
  requests: number;
  bytes: number;
  seconds: number;
  longest: number;
}

/** Sums by facet and then by name of colour. */
export type Sight = Map<string, Map<string, Sums>>;

export function inSight(view: View, picture: Picture, palette: Palette, nameOf: (row: number) => string): Sight {
  const { rows, lanes } = view;
  const sight: Sight = new Map(
    view.facets.map((facet) => [facet, new Map(palette.colours.map(({ name }) => [name, { requests: 0, bytes: 0, seconds: 0, longest: 0 }]))]),
  );
  picture.each((place, facet) => {
    const row = lanes.rows[place]!;
    const sums = sight.get(view.facets[facet]!)!.get(nameOf(row))!;
    const seconds = (rows.end[row]! - rows.start[row]!) * rows.share[row]!;
    sums.requests += rows.requests[row]!;
    sums.bytes += rows.bytes[row]!;
    sums.seconds += seconds;
    sums.longest = Math.max(sums.longest, seconds);
  });
  return sight;
}

export function sentence(sight: Sight, view: View, domain: Domain, about: About, source: TableSource | undefined, width: number): string {
  const sums = [...sight.values()].flatMap((names) => [...names.values()]);
  const requests = sums.reduce((sum, found) => sum + found.requests, 0);
  const { axis, x } = view;
  const lanes = `${axis.name} ${axis.label(domain.top)} to ${axis.label(domain.bottom - 1)}`;
  const step = (domain.to - domain.from) / 1000;
  const along =
    x.kind === "time"
      ? `from ${format.clock(domain.from, step)} to ${format.clock(domain.to, step)}`
      : `from ${format.bytes(domain.from)} to ${format.bytes(domain.to)}`;
  const tolerance = source?.tolerance ?? 0;
  const isRough = tolerance > (domain.to - domain.from) / width && x.kind === "time";
  const merged = tolerance > 0 ? ` Requests less than ${format.seconds(tolerance)} apart are drawn as one.` : "";
  const rough = isRough ? " The page holds nothing finer of this trace." : "";
  const left = about.request_count;
  return `In sight: ${format.whole(requests)} of ${format.whole(left)} requests, ${along}, ${lanes}.${merged}${rough}`;
}

/** Sums over what is in sight, by facet and colour. */
export function groupTable(sight: Sight, palette: Palette): HTMLTableElement {
  const rows = [...sight].flatMap(([facet, names]) =>
    [...names]
      .filter(([, sums]) => sums.requests > 0)
      .map(([name, sums]) => [
        facet,
        name,
        format.whole(sums.requests),
        format.bytes(sums.bytes),
        format.seconds(sums.seconds),
        format.seconds(sums.longest),
      ]),
  );
  return table("What is in sight", ["", palette.title, "Requests", "Bytes", "Time in them", "Longest"], rows);
}

/** What each OST moved in the whole run. */
export function ostTable(about: About): HTMLTableElement {
  const most = Math.max(...about.osts.map(({ moved_bytes }) => moved_bytes ?? 0), 1);
  const rows = about.osts.map(({ ost_id, op, request_count, moved_bytes, reason }) => {
    const bar = element("span", { class: `bar ${op}` });
    bar.style.width = `${(100 * (moved_bytes ?? 0)) / most}%`;
    return [
      ost_id === null ? `none known: ${reason ?? ""}` : String(ost_id),
      op,
      request_count === null ? "not known" : format.whole(request_count),
      moved_bytes === null ? "not known" : format.bytes(moved_bytes),
      bar,
    ];
  });
  return table("What each OST moved in the whole run, each byte counted once", ["OST", "Operation", "Requests", "Bytes", ""], rows);
}

/** All phases, each with a button that shows it. */
export function phaseTable(view: View, about: About, explorer: { showPhase(from: number, to: number): Promise<void> }): HTMLTableElement {
  const rows = about.phases.map((phase, row) => [
    ...view.fields.map(({ shown }) => shown(row)),
    button("Show", `Show the requests of phase ${phase.phase} of ${layerName(phase.layer)}`, () =>
      void explorer.showPhase(phase.start_seconds, phase.end_seconds),
    ),
  ]);
  return table("Phases", [...view.fields.map(({ label }) => label), ""], rows);
}
