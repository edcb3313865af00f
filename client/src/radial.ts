/** The radial picture in a section of a page: connects data, picture and controls. */

import { button, choice, type Choice, CHOSEN, element, onKeys, save, table } from "./dom";
import { bytes, counted, csvOf, whole } from "./format";
import { type Kind, type RadialData, Ring, type Sight, type Sums, type Window } from "./radialdata";
import { RingChoice } from "./radialchoice";
import { type Drawn, type DrawnRing, type Hit, RadialPicture, type RadialTheme } from "./radialpicture";
import { Rings } from "./radialrings";
import { titled, windowText, worded } from "./radialscale";
import { onTheme } from "./theme";
import { Tip } from "./tip";

const MOST_ROWS = 100;
/** Edges that keys step through. */
const MOST_STEPS = 500;
/** Pixels; a shorter drag is a click. */
const DRAG = 4;
const KEYS = [
  ["Drag below the circle", "choose a stretch of time"],
  ["Arrow left, arrow right", "move the stretch of time"],
  ["+ and −", "choose a shorter or a longer stretch of time"],
  ["Click a node", "light its edges, and highlight its requests in the trace; once more, or Escape: all edges"],
  ["n, p", "show the next or the previous edge, the slowest or largest first"],
  ["Enter", "light the edges of the outer end of the edge that is shown"],
  ["Double click, 0", "show everything"],
];

export class RadialPage {
  private readonly picture: RadialPicture;
  private readonly tip: Tip;
  private readonly canvas = element("canvas", { tabindex: "0", role: "img", "aria-describedby": "radial-status" });
  private readonly tipBox = element("div", { class: "tip", hidden: "" });
  private readonly status = element("p", { class: "status", id: "radial-status", role: "status" });
  private readonly links = element("p", { class: "links" });
  private readonly list = element("details", {}, element("summary", {}, "Edges in sight as tables"));
  private readonly starts = element("input", { type: "range", min: "0", step: "1" });
  private readonly ends = element("input", { type: "range", min: "1", step: "1" });
  private readonly known = new Map<string, Ring>();
  private readonly series = new Map<Ring, { names: string; sums: Sums }>();
  private chosen: Set<number>[] = [];
  /** Who chooses circles; there is none where these are always the same. */
  private readonly rings: RingChoice | undefined;
  private ops!: HTMLSelectElement;
  private metrics!: HTMLSelectElement;
  private theme: RadialTheme;
  private op: number;
  private metric = 0;
  private window: Window;
  private drawn!: Drawn;
  private picked: Hit;
  private frameAsked = 0;

  constructor(
    private readonly section: HTMLElement,
    private data: RadialData,
  ) {
    const { about } = data;
    this.theme = themeOf(section);
    this.window = { from: 0, to: about.time.bins };
    this.chosen = about.circles.map(() => new Set());
    // The direction in which there is most, and the first metric of which there is anything.
    const requests = about.ops.map((_, op) => about.metrics.map((_, metric) => data.requestsOf(op, metric)));
    this.op = requests.reduce((best, counts, op) => (Math.max(...counts) > Math.max(...requests[best]!) ? op : best), 0);
    this.metric = Math.max(requests[this.op]!.findIndex((count) => count > 0), 0);
    this.picture = new RadialPicture(this.canvas);
    this.tip = new Tip(this.tipBox);
    if (Rings.isFor(data)) this.rings = new RingChoice(data, section.dataset["log"] ?? "", (other) => this.exchange(other));
    section.replaceChildren(...this.elements());
    this.listen();
    new ResizeObserver(() => this.picture.resize()).observe(this.canvas);
    onTheme(() => {
      this.theme = themeOf(section);
      this.show();
    });
    this.show();
  }

  /** Shows what the address asks for. */
  async begin(): Promise<void> {
    await this.rings?.begin();
  }

  /** Shows other circles, of the same time. */
  private exchange(data: RadialData): void {
    this.data = data;
    this.known.clear();
    this.series.clear();
    this.chosen = data.about.circles.map(() => new Set());
    // What is known of one ring only may have no latency.
    if (!data.requestsOf(this.op, this.metric)) this.metric = Math.max(data.about.metrics.findIndex((_, metric) => data.requestsOf(this.op, metric) > 0), 0);
    this.metrics.value = String(this.metric);
    this.show();
    this.announce();
  }

  private elements(): HTMLElement[] {
    const { about } = this.data;
    const op = choice("Direction", about.ops.map((name, at) => [String(at), name]), (value) => this.choose(() => (this.op = Number(value))));
    const metric = choice("Value", about.metrics.map(({ title }, at) => [String(at), title]), (value) => this.choose(() => (this.metric = Number(value))));
    [this.ops, this.metrics] = [op.select, metric.select];
    [op.select.value, metric.select.value] = [String(this.op), String(this.metric)];
    [this.starts.max, this.ends.max] = [String(about.time.bins - 1), String(about.time.bins)];
    this.starts.addEventListener("input", () => this.brush(Number(this.starts.value), Math.max(this.window.to, Number(this.starts.value) + 1)));
    this.ends.addEventListener("input", () => this.brush(Math.min(this.window.from, Number(this.ends.value) - 1), Number(this.ends.value)));
    this.list.addEventListener("toggle", () => this.listEdges());
    return [
      element("div", { class: "controls" }, op.box, metric.box, element("label", {}, "From ", this.starts), element("label", {}, "To ", this.ends), this.buttons()),
      ...(this.rings ? [this.rings.box, this.rings.note] : []),
      element("div", { class: "stage" }, this.canvas, this.tipBox),
      this.status,
      this.links,
      this.list,
      ...(this.rings ? [this.rings.ranks] : []),
      element("details", { class: "keys" }, element("summary", {}, "Mouse and keys of the circle"), table("", ["", ""], KEYS)),
    ];
  }

  private buttons(): HTMLElement {
    return element(
      "span",
      { class: "buttons" },
      button("All", "Show all edges and all of the time", () => this.reset()),
      button("Save picture", "Save the picture as PNG", () => this.canvas.toBlob((blob) => blob && save("circle.png", blob))),
      button("Save edges", "Save the edges in sight as CSV", () => save("circle.csv", new Blob([this.csv()], { type: "text/csv" }))),
    );
  }

  /** Lights the edges of nodes: `0-5` is node 5 of the outermost circle. */
  light(names: string[]): void {
    this.choose(() => {
      this.chosen.forEach((nodes) => nodes.clear());
      for (const [circle, node] of names.map((name) => name.split("-").map(Number) as [number, number])) this.chosen[circle]?.add(node);
    });
    this.announce();
  }

  /** The same of what is said of a direction and a metric, in circles that show it: where none are given, the page's own. */
  async lightNamed(names: string[], op?: string, metric?: string, kinds?: Kind[]): Promise<void> {
    await this.rings?.named(kinds);
    const { ops, metrics } = this.data.about;
    this.op = Math.max(ops.indexOf(op ?? ""), op === undefined ? this.op : 0);
    this.metric = metric === undefined ? this.metric : Math.max(metrics.findIndex(({ name }) => name === metric), 0);
    [this.ops.value, this.metrics.value] = [String(this.op), String(this.metric)];
    this.light(names);
  }

  private reset(): void {
    this.choose(() => {
      this.chosen.forEach((nodes) => nodes.clear());
      this.window = { from: 0, to: this.data.about.time.bins };
    });
    this.announce();
  }

  private choose(change: () => void): void {
    change();
    this.show();
  }

  private brush(from: number, to: number): void {
    const { bins } = this.data.about.time;
    this.window = { from: Math.min(Math.max(from, 0), bins - 1), to: Math.min(Math.max(to, 1), bins) };
    // Faster than frames come there is nothing to see.
    cancelAnimationFrame(this.frameAsked);
    this.frameAsked = requestAnimationFrame(() => this.show());
  }

  private ringOf(number: number): Ring {
    const key = `${number} ${this.op} ${this.metric}`;
    let ring = this.known.get(key);
    if (!ring) this.known.set(key, (ring = new Ring(this.data, number, this.op, this.metric)));
    return ring;
  }

  private drawnRing(number: number): DrawnRing {
    const { data, metric } = this;
    const ring = this.ringOf(number);
    const counts = ring.counts(this.window);
    const [least, most] = [data.lowerEnd(metric, ring.firstBin), data.lowerEnd(metric, ring.firstBin + Math.max(ring.bins, 1))];
    const lack = ring.bins ? (counts.some(Boolean) ? "" : "Nothing in this stretch of time.") : this.lackOf(number);
    return { ring, metric: data.about.metrics[metric]!, counts, series: this.seriesOf(ring, number), least, most, lack };
  }

  /** What is lit by time, which a window does not change. */
  private seriesOf(ring: Ring, number: number): Sums {
    const isAll = this.chosen.every((nodes) => !nodes.size);
    const names = isAll ? "" : this.chosen.map((nodes) => [...nodes].join()).join(";");
    let found = this.series.get(ring);
    if (found?.names !== names) {
      const isLit = (edge: number): boolean => this.chosen[number]!.has(ring.from[edge]!) || this.chosen[number + 1]!.has(ring.to[edge]!);
      this.series.set(ring, (found = { names, sums: ring.byTime(isAll ? undefined : isLit) }));
    }
    return found.sums;
  }

  /** Why there are no values of a ring. */
  private lackOf(ring: number): string {
    const isOf = (asked: number, own: number): boolean => own < 0 || own === asked;
    const said = this.data.about.missing.find((each) => isOf(ring, each.ring) && isOf(this.op, each.op) && isOf(this.metric, each.metric));
    return said?.text ?? `No ${titled(this.data.about.metrics[this.metric]!)} is known of this ring.`;
  }

  private show(): void {
    const start = performance.now();
    const { about } = this.data;
    this.drawn = { about, rings: about.circles.slice(1).map((_, number) => this.drawnRing(number)), window: this.window, chosen: this.chosen };
    this.point(undefined);
    this.picture.show(this.drawn, this.theme);
    this.section.dataset["took"] = (performance.now() - start).toFixed(1);
    [this.starts.value, this.ends.value] = [String(this.window.from), String(this.window.to)];
    this.starts.setAttribute("aria-valuetext", windowText(about, this.window));
    this.ends.setAttribute("aria-valuetext", windowText(about, this.window));
    this.status.textContent = this.words();
    this.canvas.setAttribute("aria-label", `${about.title}. ${this.status.textContent} The tables below have the same.`);
    this.links.replaceChildren(...this.linksOfChosen());
    this.listEdges();
  }

  private words(): string {
    const { about } = this.data;
    const rings = this.drawn.rings.map(({ ring, lack, metric }, number) => {
      const sight = this.litSight(number);
      const { edges, count } = sight;
      const name = capital(`${about.circles[number]!.many} to ${about.circles[number + 1]!.many}`);
      if (!count) return `${name}: ${lack || "nothing in sight."}`;
      const median = worded(metric, this.data.median(this.metric, ring, sight));
      return `${name}: ${counted(count, about.counts)} over ${counted(edges.length, "edge")}, median ${median}.`;
    });
    const which = this.chosenNames();
    return `${capital(about.ops[this.op]!)}s, ${windowText(about, this.window)}${which ? `, ${which}` : ""}. ${rings.join(" ")}`;
  }

  /** What is counted, as a label. */
  private get counts(): string {
    return `${capital(this.data.about.counts)}s`;
  }

  private chosenNames(): string {
    const names = this.data.about.circles.flatMap(({ labels }, circle) => [...this.chosen[circle]!].map((node) => labels[node]!));
    return names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
  }

  private linksOfChosen(): HTMLElement[] {
    const [arc, ...others] = this.chosen[0]!;
    const opener = arc === undefined || others.length ? undefined : this.rings?.opener(arc);
    if (opener) return [opener];
    return this.data.about.circles.flatMap(({ labels, links }, circle) =>
      [...this.chosen[circle]!].flatMap((node) => (links[node] ? [element("a", { href: links[node] }, `Logs of ${labels[node]}`), element("span", {}, " ")] : [])),
    );
  }

  /** What is in sight of a ring's edges that are lit. */
  private litSight(number: number): Sight {
    const { ring, counts } = this.drawn.rings[number]!;
    return ring.sight(counts, ring.edgesOf((from, to) => this.picture.isLit(number, from, to)));
  }

  private medianOf({ ring, counts }: DrawnRing, edge: number): number {
    return this.data.median(this.metric, ring, ring.sight(counts, [edge]));
  }

  /** Lists the edges in sight if the list is open. */
  private listEdges(): void {
    this.list.querySelector("div")?.remove();
    if (!this.list.open) return;
    const { circles } = this.data.about;
    const tables = this.drawn.rings.map((drawn, number) => {
      const [from, to] = [circles[number]!, circles[number + 1]!];
      const sums = drawn.ring.byEdge(this.window);
      const edges = this.litSight(number).edges.sort((one, other) => sums.sum[other]! - sums.sum[one]!);
      const rows = edges.slice(0, MOST_ROWS).map((edge) => [
        from.labels[drawn.ring.from[edge]!]!,
        to.labels[drawn.ring.to[edge]!]!,
        ...this.edgeWords(drawn, sums, edge).map(([, text]) => text),
      ]);
      const which = edges.length > MOST_ROWS ? `the ${MOST_ROWS} of ${whole(edges.length)} edges with most` : counted(edges.length, "edge");
      const caption = `${capital(from.many)} to ${to.many}, ${titled(drawn.metric)}: ${which}. “Save edges” saves all.`;
      return element("div", { class: "scroll" }, table(caption, [capital(from.one), capital(to.one), this.counts, "Bytes", "Median", "Mean", "Least", "Most"], rows));
    });
    this.list.append(element("div", {}, ...tables));
  }

  private edgeWords(drawn: DrawnRing, sums: Sums, edge: number): [string, string][] {
    const { metric } = drawn;
    return [
      [this.counts, whole(sums.count[edge]!)],
      ["Bytes", bytes(sums.bytes[edge]!)],
      ["Median", worded(metric, this.medianOf(drawn, edge))],
      ["Mean", worded(metric, sums.sum[edge]! / sums.count[edge]!)],
      ["Least", worded(metric, sums.least[edge]!)],
      ["Most", worded(metric, sums.most[edge]!)],
    ];
  }

  private csv(): string {
    const { about } = this.data;
    const lines: (number | string)[][] = [["ring", "op", "metric", "from", "from_host", "to", `${about.counts}_count`, "moved_bytes", "median", "mean", "least", "most"]];
    this.drawn.rings.forEach((drawn, number) => {
      const sums = drawn.ring.byEdge(this.window);
      const [from, to] = [about.circles[number]!, about.circles[number + 1]!];
      for (const edge of this.litSight(number).edges) {
        const source = drawn.ring.from[edge]!;
        const numbers = [
          ...[sums.count[edge]!, sums.bytes[edge]!, this.medianOf(drawn, edge)],
          ...[sums.sum[edge]! / sums.count[edge]!, sums.least[edge]!, sums.most[edge]!],
        ];
        const names = [from.labels[source]!, from.hosts[source] ?? "", to.labels[drawn.ring.to[edge]!]!];
        lines.push([number ? "inner" : "outer", about.ops[this.op]!, drawn.metric.name, ...names, ...numbers.map((each) => Number(each.toPrecision(12)))]);
      }
    });
    return csvOf(lines);
  }

  private listen(): void {
    const { canvas, picture } = this;
    let start: { x: number; y: number; bin: number | undefined } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      canvas.focus({ preventScroll: true });
      start = { x: event.offsetX, y: event.offsetY, bin: picture.binAt(event.offsetX, event.offsetY) };
      event.preventDefault();
    });
    canvas.addEventListener("pointermove", (event) => {
      const at = { x: event.offsetX, y: event.offsetY };
      if (!start) return this.point(picture.pick(at.x, at.y), at);
      if (start.bin === undefined || Math.abs(at.x - start.x) < DRAG) return;
      const bin = picture.binAt(at.x, Infinity)!;
      this.brush(Math.floor(Math.min(start.bin, bin)), Math.ceil(Math.max(start.bin, bin)));
    });
    canvas.addEventListener("pointerup", (event) => {
      const from = start;
      start = undefined;
      if (!from || Math.hypot(event.offsetX - from.x, event.offsetY - from.y) >= DRAG) return;
      // A click on a bin chooses it.
      if (from.bin !== undefined) return this.brush(Math.floor(from.bin), Math.floor(from.bin) + 1);
      this.open(picture.pick(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("pointercancel", () => (start = undefined));
    canvas.addEventListener("pointerleave", () => this.point(undefined));
    canvas.addEventListener("dblclick", () => this.reset());
    onKeys(canvas, (key) => this.keyed(key));
  }

  private keyed(key: string): (() => void) | undefined {
    const { from, to } = this.window;
    const { bins } = this.data.about.time;
    const move = (by: number): void => {
      const step = Math.max(Math.min(by, bins - to), -from);
      this.brush(from + step, to + step);
    };
    const width = to - from;
    const keys: Record<string, () => void> = {
      ArrowLeft: () => move(-Math.max(width >> 2, 1)),
      ArrowRight: () => move(Math.max(width >> 2, 1)),
      "+": () => this.brush(from + (width >> 2), Math.max(to - (width >> 2), from + 1)),
      "=": () => this.brush(from + (width >> 2), Math.max(to - (width >> 2), from + 1)),
      "-": () => this.brush(from - Math.max(width >> 1, 1), to + Math.max(width >> 1, 1)),
      "0": () => this.reset(),
      Home: () => this.reset(),
      n: () => this.step(1),
      p: () => this.step(-1),
      Enter: () => this.open(this.picked),
      Escape: () => this.light([]),
    };
    return keys[key];
  }

  /** Shows the next or the previous edge, those with the highest values first. */
  private step(by: 1 | -1): void {
    const edges = this.drawn.rings.flatMap(({ ring }, number) => {
      const { most } = ring.byEdge(this.window);
      return this.litSight(number).edges.map((edge) => ({ ring: number, edge, most: most[edge]! }));
    });
    edges.sort((one, other) => one.ring - other.ring || other.most - one.most);
    const { picked } = this;
    const at = edges.findIndex(({ ring, edge }) => picked !== undefined && "edge" in picked && picked.ring === ring && picked.edge === edge);
    const next = edges[at < 0 ? 0 : Math.min(at + by, MOST_STEPS)];
    if (!next) return;
    const hit = { ring: next.ring, edge: next.edge };
    this.point(hit, this.picture.pointOf(hit));
  }

  /** Lights the edges of a node, or those of the outer end of an edge; all edges where they are lit already. */
  private open(hit: Hit): void {
    if (!hit) return;
    const { circle, node } = "node" in hit ? hit : { circle: hit.ring, node: this.drawn.rings[hit.ring]!.ring.from[hit.edge]! };
    const isAgain = this.chosen[circle]!.has(node);
    this.light(isAgain ? [] : [`${circle}-${node}`]);
  }

  /** Says to the rest of the page what is chosen. */
  private announce(): void {
    const { circles, ops } = this.data.about;
    const ranks: number[] = [];
    const osts: number[] = [];
    const files: number[] = [];
    circles.forEach(({ firstRanks, lastRanks, osts: known, members }, circle) => {
      for (const node of this.chosen[circle]!) {
        const own = members?.[node];
        ranks.push(...(own?.ranks ?? []));
        osts.push(...(own?.osts ?? []));
        files.push(...(own?.files ?? []));
        if (known[node]! >= 0) osts.push(known[node]!);
        for (let rank = firstRanks[node]!; rank <= lastRanks[node]!; rank++) ranks.push(rank);
      }
    });
    const detail: Choice = { names: this.chosenNames(), op: ops[this.op]!, ranks, osts, files };
    document.dispatchEvent(new CustomEvent(CHOSEN, { detail }));
  }

  private point(hit: Hit, at?: { x: number; y: number }): void {
    const isSame = JSON.stringify(hit) === JSON.stringify(this.picked);
    this.picked = hit;
    if (!isSame) this.picture.point(hit);
    if (!hit || !at) return this.tip.hide();
    this.tip.show("edge" in hit ? this.wordsOfEdge(hit.ring, hit.edge) : this.wordsOfNode(hit.circle, hit.node), at, this.canvas.clientWidth);
  }

  private wordsOfEdge(number: number, edge: number): [string, string][] {
    const { circles } = this.data.about;
    const drawn = this.drawn.rings[number]!;
    const [from, to] = [drawn.ring.from[edge]!, drawn.ring.to[edge]!];
    const host = circles[number]!.hosts[from];
    return [
      ["From", circles[number]!.labels[from]!],
      ...(host ? [["Host", host] as [string, string]] : []),
      ["To", circles[number + 1]!.labels[to]!],
      ...this.edgeWords(drawn, drawn.ring.byEdge(this.window), edge),
    ];
  }

  private wordsOfNode(circle: number, node: number): [string, string][] {
    const { circles } = this.data.about;
    const { one, labels, hosts, kind } = circles[circle]!;
    const home = kind === "ost" ? "OSS" : "Host";
    const words: [string, string][] = [[capital(one), labels[node]!], ...(hosts[node] ? [[home, hosts[node]] as [string, string]] : [])];
    for (const [number, ends, other] of [[circle - 1, "to", "from"], [circle, "from", "to"]] as const) {
      const drawn = this.drawn.rings[number];
      if (!drawn?.ring.bins) continue;
      const { ring, counts, metric } = drawn;
      const sight = ring.sight(counts, ring.edgesOf((...both) => both[ends === "to" ? 1 : 0] === node));
      const { edges } = sight;
      if (!edges.length) continue;
      const sums = ring.byEdge(this.window);
      const total = (of: Float64Array): number => edges.reduce((sum, edge) => sum + of[edge]!, 0);
      const { one: single, many } = circles[number + (other === "to" ? 1 : 0)]!;
      words.push([capital(other), edges.length === 1 ? `1 ${single}` : `${whole(edges.length)} ${many}`]);
      words.push([this.counts, `${whole(total(sums.count))} of ${bytes(total(sums.bytes))}`]);
      words.push(["Median", worded(metric, this.data.median(this.metric, ring, sight))]);
      words.push(["Most", worded(metric, edges.reduce((most, edge) => Math.max(most, sums.most[edge]!), 0))]);
    }
    return words;
  }
}

function capital(text: string): string {
  // Names such as OSTs stay as they are.
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function themeOf(node: Element): RadialTheme {
  const style = getComputedStyle(node);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ...{ paper: of("raised"), ink: of("ink"), soft: of("soft"), line: of("line"), faint: of("faint"), accent: of("accent") },
    ramps: [of("outer").split(" "), of("inner").split(" ")],
  };
}

