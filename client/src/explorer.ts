/** The explorer of a trace in a section of a page: connects data, views, picture and controls. */

import { type Address, keep, parsed, within } from "./address";
import { type Commands, Controls, type Entry, VIEWS } from "./controls";
import * as domains from "./domain";
import { csv } from "./fields";
import { listen } from "./gestures";
import { Levels } from "./levels";
import type { Requests } from "./moved";
import { type Colour, HIDDEN, NOT_HIGHLIGHTED, operationPalette, type Palette, SIZE_NAMES, sizeClass, sizePalette } from "./palette";
import { Picture, type Place } from "./picture";
import type { Domain } from "./raster";
import { type About, type Rows, type TableSource, UNKNOWN } from "./rows";
import { isWithin } from "./ranges";
import { isHighlighted, ranksText } from "./select";
import { type Choice, save } from "./dom";
import { askedOf, type Chosen, isAsked, NAMES, NOTHING_CHOSEN, valuesOf, type ViewName, type Window } from "./state";
import * as summary from "./summary";
import { onTheme, type Theme, themeOf } from "./theme";
import { Tip } from "./tip";
import { offsets, ostsOverTime, phases, ranksOverTime, type View, withLanes } from "./views";

const ALL_FILES = UNKNOWN;
/** The element of the page to which addresses of views go. */
const ANCHOR = "trace";
/** The summary and the address wait until the picture stands and zooming stops: numbers would flicker, and browsers bound how often an address changes. */
const SUMMARY_DELAY_MS = 120;

export class Explorer implements Commands {
  private readonly chosen: Chosen = { ...NOTHING_CHOSEN };
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
  private legend: Entry[] = [];
  private picked: Place | undefined;
  private summaryTimer: number | undefined;
  /** Shows another run on the same scale: what is chosen here is chosen there, as far as it has it. */
  partner: Explorer | undefined;

  /** @param prefix of its names in the address, where a page has several explorers */
  constructor(
    private readonly section: HTMLElement,
    private readonly about: About,
    private readonly prefix = "",
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
      panLanes: (part) => this.pan(0, Math.sign(part) * Math.max(Math.round((this.domain.bottom - this.domain.top) * Math.abs(part)), 1)),
      brush: (from, to, top, bottom) => this.move({ from, to, top: top ?? this.domain.top, bottom: bottom ?? this.domain.bottom }),
      reset: () => this.reset(),
      hover: (px, py) => this.hover(px, py),
      leave: () => this.point(undefined),
      step: (by) => this.step(by),
    });
    new ResizeObserver(() => this.resize()).observe(this.controls.stage);
    onTheme(() => this.recolour());
  }

  /** What an address says to this explorer. */
  addressed(hash: string): Address {
    return within(parsed(hash), this.prefix);
  }

  /** Shows what an address asks for, as far as the trace has it. */
  async open(hash: string): Promise<void> {
    const address = this.addressed(hash);
    const { chosen, window, ignored } = askedOf(address, this.about, [...this.about.ops, ...SIZE_NAMES, NOT_HIGHLIGHTED]);
    Object.assign(this.chosen, chosen);
    this.domainOfAxes.clear();
    this.table = undefined;
    await this.load();
    const { x, lanes } = window;
    const { from, to, top, bottom } = this.domain;
    if (x || lanes) this.move({ from: x?.[0] ?? from, to: x?.[1] ?? to, top: lanes?.[0] ?? top, bottom: lanes ? lanes[1] + 1 : bottom });
    // Numbers that come after the picture would push down what follows, under the pointer of a reader who clicks there.
    if (this.summaryTimer !== undefined) this.summarise();
    this.controls.showIgnored(address.isTooLong ? ["it is too long"] : ignored);
    if (isAsked(address)) this.section.scrollIntoView({ behavior: "instant" });
  }

  /** Applies choices and shows the result, here and in the partner. */
  async choose(changes: Partial<Chosen>): Promise<void> {
    await Promise.all([this.apply(changes), this.partner?.follow(changes)]);
  }

  private async apply(changes: Partial<Chosen>): Promise<void> {
    Object.assign(this.chosen, changes);
    if (changes.view) this.chosen.isBySize = changes.view === "sizes";
    if ("ranks" in changes) this.forgetLanes("rank");
    if ("isByNumber" in changes) this.forgetLanes("OST");
    this.controls.showIgnored([]);
    this.table = undefined;
    await this.load();
  }

  /** Applies what is chosen for another run. Files and ranks are its own, and findings go by their code. */
  private async follow({ file: _file, ranks: _ranks, ...changes }: Partial<Chosen>): Promise<void> {
    const code = changes.highlight?.code;
    if (code !== undefined) changes.highlight = this.about.highlights.find((found) => found.code === code);
    await this.apply(changes);
  }

  /** Switches what has a colour on or off: an operation as the choice of operations does, a size by itself. */
  toggle(name: string): void {
    const { ops } = this.about;
    if (ops.includes(name)) {
      const other = ops.find((op) => op !== name);
      void this.choose({ op: this.chosen.op === undefined ? other : undefined });
      return;
    }
    const hidden = new Set(this.chosen.hidden);
    if (!hidden.delete(name)) hidden.add(name);
    // Nothing would be left to see.
    const isAny = this.legend.some((entry) => !hidden.has(entry.name));
    void this.choose({ hidden: isAny ? hidden : new Set() });
  }

  /** Highlights the requests of a finding; none if the finding names no requests. */
  async showFinding(code: string): Promise<void> {
    await this.apply({ highlight: this.about.highlights.find((found) => found.code === code) });
  }

  /** Highlights what is chosen in another picture. */
  async showChoice({ names, op, ranks, osts, files }: Choice): Promise<void> {
    const isAny = ranks.length > 0 || osts.length > 0 || files.length > 0;
    const of = { ...(ranks.length ? { ranks } : {}), ...(osts.length ? { ost_ids: osts } : {}), ...(files.length ? { files } : {}), ops: [op] };
    await this.choose({ highlight: isAny ? { code: "circle", text: `${op}s of ${names}`, isForeign: true, ...of } : undefined });
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
    const { chosen, view, about, legend } = this;
    if (!view) return;
    const { file, ranks, highlight } = chosen;
    const words = [
      `${about.app ?? "Unnamed program"}: ${VIEWS[chosen.view][0]}`,
      `Log ${about.log_id}. ${this.controls.statusText}`,
      ...(file === ALL_FILES ? [] : [`File ${about.files[file]}`]),
      ...(ranks ? [`Ranks ${ranksText(ranks)}`] : []),
      ...(highlight ? [`${highlight.code}: ${highlight.text}`] : []),
    ];
    const shown = legend.filter(({ isShown }) => isShown);
    this.picture.saved(words, shown)?.toBlob((blob) => blob && save(`${this.fileName}.png`, blob));
  }

  /** What is in sight, in a name that all file systems take. */
  private get fileName(): string {
    const values = valuesOf({ ...this.chosen, file: ALL_FILES, ranks: undefined, view: "operations" }, this.window);
    const said = [this.about.log_id, this.chosen.view, ...[...values].map(([name, value]) => (name === "t" ? `${value}s` : value))];
    return said.join("_").replace(/[^\w.-]+/g, "-").slice(0, 120);
  }

  saveRows(): void {
    if (this.view) save(`${this.fileName}.csv`, new Blob([csv(this.view.fields, this.rowsInSight())], { type: "text/csv" }));
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

  /** The domain as far as it is not all of the view. */
  private get window(): Window {
    const { view, domain } = this;
    if (!view) return {};
    const all = domains.whole(view.x, view.axis);
    return {
      ...(domain.from > all.from || domain.to < all.to ? { x: [domain.from, domain.to] } : {}),
      ...(domain.top > all.top || domain.bottom < all.bottom ? { lanes: [domain.top, domain.bottom - 1] } : {}),
    };
  }

  private move(domain: Domain): void {
    this.goTo(domain);
    const { partner, view } = this;
    if (view?.x.kind === "time" && partner?.view?.x.kind === "time") partner.goTo({ ...partner.domain, from: this.domain.from, to: this.domain.to });
  }

  private goTo(domain: Domain): void {
    const { view } = this;
    if (!view) return;
    this.domainOfAxes.set(axesOf(view), domains.within(domain, view.x, view.axis));
    this.point(undefined);
    this.picture.move(this.domain);
    this.summariseSoon();
    void this.load();
  }

  private pan(x: number, lanes: number): void {
    const { from, to } = this.domain;
    this.move(domains.moved(this.domain, x * (to - from), lanes));
  }

  private forgetLanes(name: string): void {
    for (const axes of [...this.domainOfAxes.keys()].filter((key) => key.endsWith(` ${name}`))) this.domainOfAxes.delete(axes);
  }

  /** Loads a table that is fine enough for the domain, and draws from it. */
  private async load(): Promise<void> {
    const { view: name, file, ranks, size, took } = this.chosen;
    if (name === "phases") return this.show(this.viewOf(undefined, name), undefined);
    const by = name === "offsets" ? "offset" : name === "osts" ? "ost" : "rank";
    const tables = this.levels.tables(by, file !== ALL_FILES || size !== undefined || took !== undefined || (ranks !== undefined && by !== "rank"));
    const pixelSeconds = name === "offsets" ? 0 : this.pixelSeconds(name);
    const table = this.levels.choice(tables, pixelSeconds);
    if (!table) return this.say("This view needs each single request. The trace is too long: the page has merged requests only.");
    if (table === this.table) return;
    this.table = table;
    try {
      const rows = await this.levels.rows(table);
      if (table === this.table) this.show(this.viewOf(rows, name), table);
    } catch (error) {
      this.say(`The trace cannot be shown: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  private pixelSeconds(name: ViewName): number {
    const lanes = name === "osts" ? "OST" : "rank";
    const { from, to } = this.domainOfAxes.get(`time ${lanes}`) ?? { from: 0, to: this.about.shown_seconds };
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
    this.view = withLanes(view, this.about, this.chosen);
    this.palette = this.chosen.isBySize && table ? sizePalette(this.theme) : operationPalette(this.about.ops, this.theme);
    this.picked = undefined;
    this.tip.hide();
    const { lanes, rows } = this.view;
    const shares = new Float32Array(lanes.rows.length).fill(1);
    if (rows.isMerged && view.x.kind === "time") for (let place = 0; place < shares.length; place++) shares[place] = rows.share[lanes.rows[place]!]!;
    this.colours = this.coloured(this.view);
    this.controls.update(this.chosen, this.view, this.runTables(this.view));
    this.controls.showLegend(this.palette.title, this.legend);
    this.picture.show({ ...this.view, palette: this.palette, theme: this.theme, colours: this.colours, shares }, this.domain);
    this.summariseSoon();
  }

  /** Colour of each place; the legend gets those that occur. */
  private coloured({ rows, lanes, isOfRequests }: View): Uint8Array {
    const { file, highlight, ranks, isBySize, op, size, took, hidden } = this.chosen;
    const { colours: palette } = this.palette;
    const faded = palette.length - 1;
    const isWanted = isOfRequests && highlight ? isHighlighted(highlight, rows, this.about) : undefined;
    const inRanks = isOfRequests && ranks ? new Set(ranks) : undefined;
    const shownOp = op === undefined ? undefined : this.about.ops.indexOf(op);
    const isLeftOut = (row: number): boolean =>
      (file !== ALL_FILES && rows.file[row] !== file) ||
      (inRanks !== undefined && rows.rank[row] !== UNKNOWN && !inRanks.has(rows.rank[row]!)) ||
      (size !== undefined && !isWithin(rows.bytes[row]!, size)) ||
      (took !== undefined && !isWithin(rows.end[row]! - rows.start[row]!, took));
    const occurs = new Uint8Array(palette.length);
    const isShown = palette.map(({ name }) => !hidden.has(name) && (isBySize || shownOp === undefined || !this.about.ops.includes(name) || name === op));
    const hasFilter = isOfRequests && (file !== ALL_FILES || (inRanks ?? size ?? took) !== undefined);
    const colours = new Uint8Array(lanes.rows.length);
    for (let place = 0; place < colours.length; place++) {
      const row = lanes.rows[place]!;
      let colour = HIDDEN;
      if (!hasFilter || !isLeftOut(row)) {
        colour = isWanted && !isWanted(row) ? faded : isBySize ? sizeClass(rows.requestBytes(row)) : rows.op[row]!;
        occurs[colour] = 1;
        if (!isShown[colour] || (shownOp !== undefined && rows.op[row] !== shownOp)) colour = HIDDEN;
      }
      colours[place] = colour;
    }
    this.legend = palette.flatMap((colour: Colour, at) => (occurs[at] ? [{ name: colour.name, css: colour.css, isShown: isShown[at]! }] : []));
    return colours;
  }

  /** Says why there is no picture, in place of the summary. */
  private say(text: string): void {
    this.dropSummary();
    this.controls.showStatus(text);
  }

  /** Updates the summary once zooming and moving stop. */
  private summariseSoon(): void {
    this.dropSummary();
    this.summaryTimer = setTimeout(() => this.summarise(), SUMMARY_DELAY_MS);
  }

  /** Leaves out a summary that is due. */
  private dropSummary(): void {
    clearTimeout(this.summaryTimer);
    this.summaryTimer = undefined;
  }

  private summarise(): void {
    this.dropSummary();
    const { view } = this;
    if (!view) return;
    const sums = summary.inSight(view, this.picture, this.palette, this.colours);
    const values = [...valuesOf(this.chosen, this.window)].map(([name, value]) => [this.prefix + name, value] as const);
    keep(ANCHOR, NAMES.map((name) => this.prefix + name), new Map(values));
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
