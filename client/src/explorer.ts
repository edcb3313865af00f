/** The explorer of a trace in a section of a page: connects data, views, picture and controls. */

import { type Chosen, type Commands, Controls, type ViewName } from "./controls";
import * as domains from "./domain";
import { csv } from "./fields";
import { listen } from "./gestures";
import { Levels } from "./levels";
import type { Requests } from "./moved";
import { HIDDEN, operationPalette, type Palette, sizeClass, sizePalette } from "./palette";
import { Picture, type Place } from "./picture";
import type { Domain } from "./raster";
import { type About, type Rows, type TableSource, UNKNOWN } from "./rows";
import { isHighlighted } from "./select";
import { type Choice, save } from "./dom";
import * as summary from "./summary";
import { onTheme, type Theme, themeOf } from "./theme";
import { Tip } from "./tip";
import { offsets, ostsOverTime, phases, ranksOverTime, type View, withRanks } from "./views";

const ALL_FILES = UNKNOWN;
/** The summary waits until zooming stops; its numbers would flicker. */
const SUMMARY_DELAY_MS = 120;

export class Explorer implements Commands {
  private readonly chosen: Chosen = { view: "operations", isBySize: false, file: ALL_FILES, ranks: undefined, highlight: undefined };
  private readonly levels: Levels;
  private readonly controls: Controls;
  private readonly picture: Picture;
  private readonly tip: Tip;
  private readonly views = new Map<Rows, Map<string, View>>();
  /** The domain of each pair of axes: views with the same axes share it. */
  private readonly domainOfAxes = new Map<string, Domain>();
  view: View | undefined;
  private table: TableSource | undefined;
  private theme: Theme;
  private palette: Palette;
  private colours: Uint8Array = new Uint8Array();
  private picked: Place | undefined;
  private summaryTimer: number | undefined;

  constructor(
    private readonly section: HTMLElement,
    private readonly about: About,
  ) {
    this.levels = new Levels(about);
    this.theme = themeOf(section);
    this.palette = operationPalette(about.ops, this.theme);
    this.controls = new Controls(about, this);
    section.replaceChildren(...this.controls.elements);
    this.picture = new Picture(this.controls.canvas);
    this.tip = new Tip(this.controls.tip);
    listen(this.picture, {
      zoom: (factor, x) => this.zoom(factor, x),
      zoomLanes: (factor, position = (this.domain.top + this.domain.bottom) / 2) =>
        this.move(domains.zoomedLanes(this.domain, factor, position)),
      pan: (x, lanes) => this.pan(x, lanes),
      brush: (from, to, top, bottom) => this.move({ from, to, top: top ?? this.domain.top, bottom: bottom ?? this.domain.bottom }),
      reset: () => this.reset(),
      hover: (px, py) => this.hover(px, py),
      leave: () => this.point(undefined),
      step: (by) => this.step(by),
    });
    new ResizeObserver(() => this.resize()).observe(this.controls.stage);
    onTheme(() => this.recolour());
  }

  /** Applies choices and shows the result. */
  async choose(changes: Partial<Chosen>): Promise<void> {
    Object.assign(this.chosen, changes);
    if (changes.view) this.chosen.isBySize = changes.view === "sizes";
    if (changes.ranks !== undefined || "ranks" in changes) this.forgetRanks();
    this.table = undefined;
    await this.load();
  }

  /** Highlights the requests of a finding; none if the finding names no requests. */
  async showFinding(code: string): Promise<void> {
    await this.choose({ highlight: this.about.highlights.find((found) => found.code === code) });
  }

  /** Highlights what is chosen in another picture. */
  async showChoice({ names, op, ranks, osts, files }: Choice): Promise<void> {
    const isAny = ranks.length > 0 || osts.length > 0 || files.length > 0;
    const of = { ...(ranks.length ? { ranks } : {}), ...(osts.length ? { ost_ids: osts } : {}), ...(files.length ? { files } : {}), ops: [op] };
    await this.choose({ highlight: isAny ? { code: "circle", text: `${op}s of ${names}`, ...of } : undefined });
  }

  /** What loads the requests of the trace; undefined where the page cannot reach each of them. */
  requests(): (() => Promise<Requests>) | undefined {
    const table = this.levels.tables("rank", true)[0];
    return table && (async () => ({ about: this.about, rows: await this.levels.rows(table) }));
  }

  reset(): void {
    if (this.view) this.move(domains.whole(this.view.x, this.view.axis));
  }

  /** Zooms x around a point, or the middle; a factor below 1 zooms in. */
  zoom(factor: number, x = (this.domain.from + this.domain.to) / 2): void {
    this.move(domains.zoomedX(this.domain, factor, x));
  }

  savePicture(): void {
    this.controls.canvas.toBlob((blob) => blob && save(`${this.chosen.view}.png`, blob));
  }

  saveRows(): void {
    if (this.view) save(`${this.chosen.view}.csv`, new Blob([csv(this.view.fields, this.rowsInSight())], { type: "text/csv" }));
  }

  /** Rows in sight, in the order of the list and the CSV: those that are highlighted first. */
  rowsInSight(): number[] {
    const [found, others]: [number[], number[]] = [[], []];
    const faded = this.palette.colours.length - 1;
    this.picture.each((place) => (this.colours[place] === faded ? others : found).push(this.view!.lanes.rows[place]!));
    return found.concat(others);
  }

  /** Shows the requests of all ranks during a phase. */
  private async showPhase(from: number, to: number): Promise<void> {
    this.domainOfAxes.delete("time rank");
    await this.choose({ view: "operations" });
    const slack = 0.02 * (to - from);
    this.move({ ...this.domain, from: from - slack, to: to + slack });
  }

  private get domain(): Domain {
    const { view } = this;
    if (!view) return { from: 0, to: 1, top: 0, bottom: 1 };
    return this.domainOfAxes.get(axesOf(view)) ?? domains.whole(view.x, view.axis);
  }

  private move(domain: Domain): void {
    const { view } = this;
    if (!view) return;
    this.domainOfAxes.set(axesOf(view), domains.within(domain, view.x, view.axis));
    this.point(undefined);
    this.picture.move(this.domain);
    this.summariseSoon();
    void this.load();
  }

  private pan(x: number, lanes: number): void {
    const { from, to, top, bottom } = this.domain;
    const step = Math.max(Math.round((bottom - top) * 0.2), 1);
    this.move(domains.moved(this.domain, x * (to - from), Math.abs(lanes) === 1 ? lanes * step : lanes));
  }

  private forgetRanks(): void {
    for (const axes of [...this.domainOfAxes.keys()].filter((key) => key.endsWith(" rank"))) this.domainOfAxes.delete(axes);
  }

  /** Loads a table that is fine enough for the domain, and draws from it. */
  private async load(): Promise<void> {
    const { view: name, file, ranks } = this.chosen;
    if (name === "phases") return this.show(this.viewOf(undefined, name), undefined);
    const by = name === "offsets" ? "offset" : name === "osts" ? "ost" : "rank";
    const tables = this.levels.tables(by, file !== ALL_FILES || (ranks !== undefined && by !== "rank"));
    const pixelSeconds = name === "offsets" ? 0 : this.pixelSeconds(name);
    const table = this.levels.choice(tables, pixelSeconds);
    if (!table) return this.controls.showStatus("This view needs each single request. The trace is too long: the page has merged requests only.");
    if (table === this.table) return;
    this.table = table;
    try {
      const rows = await this.levels.rows(table);
      if (table === this.table) this.show(this.viewOf(rows, name), table);
    } catch (error) {
      this.controls.showStatus(`The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private pixelSeconds(name: ViewName): number {
    const lanes = name === "osts" ? "OST" : "rank";
    const { from, to } = this.domainOfAxes.get(`time ${lanes}`) ?? { from: 0, to: this.about.run_seconds };
    return (to - from) / this.picture.plotWidth;
  }

  /** The view of some rows, built once. */
  private viewOf(rows: Rows | undefined, name: ViewName): View {
    if (!rows) return phases(this.about);
    const kind = name === "sizes" ? "operations" : name;
    let views = this.views.get(rows);
    if (!views) this.views.set(rows, (views = new Map()));
    let view = views.get(kind);
    if (!view) views.set(kind, (view = { operations: ranksOverTime, offsets, osts: ostsOverTime }[kind as "operations"](rows, this.about)));
    return view;
  }

  private show(view: View, table: TableSource | undefined): void {
    this.table = table;
    this.view = withRanks(view, this.about, this.chosen.ranks);
    this.palette = this.chosen.isBySize && table ? sizePalette(this.theme) : operationPalette(this.about.ops, this.theme);
    this.picked = undefined;
    this.tip.hide();
    const { lanes, rows } = this.view;
    const shares = new Float32Array(lanes.rows.length).fill(1);
    if (view.x.kind === "time") for (let place = 0; place < shares.length; place++) shares[place] = rows.share[lanes.rows[place]!]!;
    this.colours = this.coloured(this.view);
    this.controls.update(this.chosen, this.view, this.runTables(this.view));
    this.picture.show({ ...this.view, palette: this.palette, theme: this.theme, colours: this.colours, shares }, this.domain);
    this.summarise();
  }

  /** Colour of each place. */
  private coloured({ rows, lanes }: View): Uint8Array {
    const { file, highlight, ranks, isBySize } = this.chosen;
    const faded = this.palette.colours.length - 1;
    const isWanted = highlight && isHighlighted(highlight, rows, this.about);
    const inRanks = ranks && new Set(ranks);
    const colourOf = (row: number): number => {
      if (file !== ALL_FILES && rows.file[row] !== file) return HIDDEN;
      if (inRanks && rows.rank[row] !== UNKNOWN && !inRanks.has(rows.rank[row]!)) return HIDDEN;
      if (isWanted && !isWanted(row)) return faded;
      return isBySize ? sizeClass(rows.requestBytes(row)) : rows.op[row]!;
    };
    const colours = new Uint8Array(lanes.rows.length);
    for (let place = 0; place < colours.length; place++) colours[place] = colourOf(lanes.rows[place]!);
    return colours;
  }

  /** Updates the summary once zooming and moving stop. */
  private summariseSoon(): void {
    clearTimeout(this.summaryTimer);
    this.summaryTimer = setTimeout(() => this.summarise(), SUMMARY_DELAY_MS);
  }

  private summarise(): void {
    const { view } = this;
    if (!view) return;
    const sums = summary.inSight(view, this.picture, this.palette, this.colours);
    const { from, to } = this.domain;
    this.controls.showStatus(summary.sentence(sums, view, this.domain, this.table, (to - from) / this.picture.plotWidth));
    this.controls.showSummary(this.chosen.view === "phases" ? [] : [summary.sumTable(sums, this.palette)]);
  }

  /** Tables about the whole run, which zooming does not change. */
  private runTables(view: View): HTMLTableElement[] {
    if (this.chosen.view === "osts") return [summary.ostTable(this.about)];
    if (this.chosen.view === "phases") return [summary.phaseTable(view, this.about, (from, to) => void this.showPhase(from, to))];
    return [];
  }

  private hover(px: number, py: number): void {
    this.point(this.picture.pick(px, py), { x: px, y: py });
  }

  private point(place: Place | undefined, at?: { x: number; y: number }): void {
    this.picked = place;
    if (!place || !this.view) return this.tip.hide();
    const row = this.view.lanes.rows[place.place]!;
    const lines = this.view.fields.map(({ label, shown }): [string, string] => [label, shown(row)]);
    this.tip.show(lines, at ?? this.picture.pointOf(place), this.controls.canvas.clientWidth);
  }

  /** Shows the tip of the next or the previous request in sight. */
  private step(by: 1 | -1): void {
    const places: Place[] = [];
    this.picture.each((place, facet) => places.push({ facet, place }));
    const at = places.findIndex(({ facet, place }) => facet === this.picked?.facet && place === this.picked.place);
    const next = at < 0 ? 0 : at + by;
    if (places[next]) this.point(places[next]);
  }

  /** Draws again in the colours of the current theme. */
  private recolour(): void {
    this.theme = themeOf(this.section);
    if (this.view) this.show(this.view, this.table);
  }

  private resize(): void {
    if (this.picture.resize()) void this.load();
  }
}

function axesOf(view: View): string {
  return `${view.x.kind} ${view.axis.name}`;
}
