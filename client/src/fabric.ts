/** The picture of a fabric in a section of a page: connects data, scene, picture and controls. */

import { button, type Child, choice, element, onKeys, table } from "./dom";
import { Fabric, METRICS, type Job, type JobLinks, type Metric, type Values, type Window } from "./fabricdata";
import { AXES, type Odd, oddOnes, type Shapes, shapesOf } from "./fabricglyphs";
import { FabricPicture, type FabricTheme, type Hit } from "./fabricpicture";
import { clockOf, endText, NAMES, percent, type Scale, scaleOf, shadesOf, windowText, worded } from "./fabricscale";
import { CLASSES, highest, type Scene, sceneOf } from "./fabricscene";
import { bytes, whole } from "./format";
import { Tip } from "./tip";
import { onTheme, palette } from "./theme";

const NO_JOB = "";
const MOST_ROWS = 200;
const PLAY_MS = 400;
const DRAG = 4;
const WHEEL_FACTOR = 1.0015;
const SPANS: [string, string][] = [
  ["1", "10 minutes"],
  ["6", "1 hour"],
  ["18", "3 hours"],
];

/** What the address says. */
interface State {
  /** Slot in which the window begins, -1 for the whole night. */
  time: number;
  span: number;
  metric: Metric;
  job: string;
  least: string;
  isEach: boolean;
  hosts: "folded" | "all";
  glyphs: "none" | "room" | "all";
  isRelative: boolean;
}

const DEFAULT: State = {
  ...{ time: -1, span: 1, metric: "utilisation", job: NO_JOB, least: "busy" },
  ...{ isEach: false, hosts: "folded", glyphs: "room", isRelative: false },
};

export class FabricPage {
  private state: State = { ...DEFAULT };
  private readonly opened = new Set<number>();
  private readonly picture: FabricPicture;
  private readonly tip: Tip;
  private readonly canvas = element("canvas", { tabindex: "0", role: "img", "aria-describedby": "fabric-status" });
  private readonly tipBox = element("div", { class: "tip", hidden: "" });
  private readonly status = element("p", { class: "status", id: "fabric-status", role: "status" });
  private readonly tables = element("div", { class: "summary" });
  private readonly legend = element("div", { class: "legend" });
  private readonly slider = element("input", { type: "range", min: "0", step: "1" });
  private readonly sliderText = element("output");
  private readonly play: HTMLButtonElement;
  private readonly selects: Record<"metric" | "job" | "least" | "lines" | "hosts" | "glyphs" | "relation" | "span", HTMLSelectElement>;
  private theme: FabricTheme;
  private values!: Values;
  private scene!: Scene;
  private scale!: Scale;
  private shapes: Shapes | undefined;
  private jobLinks: JobLinks | undefined;
  private odd: Odd[] = [];
  private picked: Hit;
  private playing: number | undefined;
  private tableTimer: number | undefined;
  private turn = 0;

  constructor(
    private readonly section: HTMLElement,
    private readonly fabric: Fabric,
  ) {
    this.theme = themeOf(section);
    const set = (changes: Partial<State>): void => void this.choose(changes);
    const lists = {
      metric: choice("Metric", METRICS.map((name) => [name, NAMES[name]]), (value) => set({ metric: value as Metric })),
      least: choice("Links", LEAST_NAMES, (value) => set({ least: value })),
      job: choice("Job", [[NO_JOB, "all"], ...fabric.jobs.map((job): [string, string] => [job.key, jobText(job)])], (value) => set({ job: value })),
      lines: choice("Parallel links", [["one", "as one line"], ["each", "each"]], (value) => set({ isEach: value === "each" })),
      hosts: choice("Hosts", [["folded", "in their switch"], ["all", "all"]], (value) => set({ hosts: value as State["hosts"] })),
      glyphs: choice("Glyphs", [["none", "none"], ["room", "where there is room"], ["all", "on all switches and nodes"]], (value) =>
        set({ glyphs: value as State["glyphs"], ...(value === "all" ? { hosts: "all" } : {}) }),
      ),
      relation: choice("Glyphs show", [["absolute", "share of capacity"], ["relative", "share of total"]], (value) =>
        set({ isRelative: value === "relative" }),
      ),
      span: choice("Time shown", [["0", "the whole night"], ...SPANS], (value) => this.chooseSpan(Number(value))),
    };
    this.selects = Object.fromEntries(Object.entries(lists).map(([name, { select }]) => [name, select])) as typeof this.selects;
    this.slider.max = String(fabric.about.slots - 1);
    this.slider.addEventListener("input", () => set({ time: Number(this.slider.value) }));
    this.play = button("Replay", "Step through the night", () => this.togglePlay());
    const time = element("div", { class: "controls time" }, lists.span.box, element("label", { class: "slider" }, "From ", this.slider), this.sliderText, this.play);
    if (!fabric.about.night) time.hidden = true;
    const { metric, least, job, lines, hosts, glyphs, relation } = lists;
    const buttons = element(
      "span",
      { class: "buttons" },
      button("+", "Zoom in", () => this.picture.zoom(1.6)),
      button("−", "Zoom out", () => this.picture.zoom(1 / 1.6)),
      button("Whole", "Show everything", () => this.picture.reset()),
    );
    const stage = element("div", { class: "stage" }, this.canvas, this.tipBox);
    section.replaceChildren(
      element("div", { class: "above" }, this.legend, buttons),
      stage,
      this.status,
      time,
      element("div", { class: "controls" }, metric.box, least.box, job.box, lines.box, hosts.box, glyphs.box, relation.box),
      element("p", { class: "hint" }, "Click a switch to open it. Drag to move. Wheel (after a click, or with Ctrl) and + and − zoom, 0 shows all, n and p step through what is drawn, Enter opens."),
      this.tables,
    );
    this.picture = new FabricPicture(this.canvas);
    this.tip = new Tip(this.tipBox);
    this.listen();
    new ResizeObserver(() => this.picture.resize()).observe(this.canvas);
    onTheme(() => {
      this.theme = themeOf(section);
      this.show();
    });
    window.addEventListener("hashchange", () => void this.choose(stateOf(location.hash, fabric)));
  }

  /** Shows what the address asks for. */
  async begin(): Promise<void> {
    await this.choose(stateOf(location.hash, this.fabric));
  }

  private get window(): Window {
    const { time, span } = this.state;
    return time < 0 ? undefined : { first: time, count: span };
  }

  private chooseSpan(span: number): void {
    void this.choose(span ? { span, time: Math.max(this.state.time, 0) } : { time: -1, span: 1 });
  }

  private togglePlay(): void {
    if (this.playing !== undefined) {
      clearTimeout(this.playing);
      this.playing = undefined;
      this.play.textContent = "Replay";
      return;
    }
    this.play.textContent = "Stop";
    const step = async (): Promise<void> => {
      const next = this.state.time + 1;
      if (next >= this.fabric.about.slots) return this.togglePlay();
      await this.choose({ time: next });
      if (this.playing !== undefined) this.playing = setTimeout(() => void step(), PLAY_MS);
    };
    this.playing = setTimeout(() => void step(), 0);
  }

  private async choose(changes: Partial<State>): Promise<void> {
    const state = { ...this.state, ...changes };
    this.state = state;
    const turn = ++this.turn;
    const { fabric, window } = this;
    this.section.setAttribute("aria-busy", "true");
    try {
      const isJob = state.job !== NO_JOB;
      const ofAll = state.least === "all" || state.least === "light" || state.least === "good" || state.glyphs === "all" || isJob;
      // What is at hand is shown at once, unless the rest comes soon anyway.
      const values = await fabric.values(window, ofAll);
      const job = isJob ? await fabric.job(state.job) : undefined;
      // Somebody has chosen again meanwhile.
      if (turn !== this.turn) return;
      [this.values, this.jobLinks] = [values, job];
      this.update(state);
      this.show(true);
    } catch (error) {
      this.status.textContent = `This cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
    }
    if (turn === this.turn) this.section.setAttribute("aria-busy", "false");
  }

  /** Puts the state into controls and address. */
  private update(state: State): void {
    const { selects } = this;
    selects.metric.value = state.metric;
    selects.job.value = state.job;
    selects.least.value = state.least;
    selects.lines.value = state.isEach ? "each" : "one";
    selects.hosts.value = state.hosts;
    selects.glyphs.value = state.glyphs;
    selects.relation.value = state.isRelative ? "relative" : "absolute";
    selects.span.value = state.time < 0 ? "0" : String(state.span);
    this.slider.value = String(Math.max(state.time, 0));
    this.slider.setAttribute("aria-valuetext", windowText(this.window));
    this.sliderText.textContent = windowText(this.window);
    const hash = hashOf(state);
    // Only the part behind `#` changes, which browsers allow in pages that are files too.
    if (hash !== location.hash.slice(1)) history.replaceState(null, "", `#${hash}`);
  }

  private show(isFitted = false): void {
    const { fabric, state, theme, jobLinks } = this;
    const { metric, least, isEach, hosts, glyphs } = state;
    const start = performance.now();
    this.scale = scaleOf(metric, this.values);
    this.scene = sceneOf(fabric, this.values, { metric, least, isEach, hosts, opened: this.opened, job: jobLinks });
    const things = fabric.nodeCount + fabric.chassisCount;
    const { shown } = this.scene;
    this.shapes = glyphs === "none" ? undefined : shapesOf(fabric, this.values, glyphOf(fabric, shown), things);
    const nodes = jobLinks ? [...jobLinks.hosts] : [];
    this.odd = nodes.length ? oddOnes(nodes, shapesOf(fabric, this.values, (node) => node, things)) : [];
    this.picked = undefined;
    this.tip.hide();
    this.picture.point(undefined);
    this.picture.show(
      {
        scene: this.scene,
        shades: shadesOf(this.scene.value, this.scale),
        kindOf: (thing) => (thing >= fabric.nodeCount ? "chassis" : fabric.isSwitch(thing) ? "switch" : fabric.isHost(thing) ? "host" : "other"),
        nameOf: (thing) => this.nameOf(thing),
        shapes: this.shapes && (state.isRelative ? this.shapes.relative : this.shapes.absolute),
        isEverywhere: glyphs === "all",
        marked: new Set([...nodes, ...(jobLinks?.servers ?? [])].map((node) => shown[node]!)),
        odd: new Set(this.odd.map(({ node }) => shown[node]!)),
      },
      theme,
      // Opening a switch moves nothing.
      isFitted,
    );
    this.section.dataset["took"] = (performance.now() - start).toFixed(1);
    this.showLegend();
    this.showWords();
  }

  private showLegend(): void {
    const { metric } = this.state;
    const steps = element("span", { class: "ramp" });
    steps.style.background = `linear-gradient(to right, ${palette(this.theme.ramp).filter((_, at) => at % 9 === 0).join(", ")})`;
    this.legend.replaceChildren(`${NAMES[metric]}: `, worded(metric, this.scale.least), " ", steps, " ", worded(metric, this.scale.most), element("span", { class: "unknown" }), " not known");
  }

  private showWords(): void {
    const { fabric, scene, state } = this;
    const drawn = scene.links.reduce((sum, links) => sum + links.length, 0);
    const what = `${NAMES[state.metric]}, ${windowText(this.window)}: ${whole(drawn)} of ${whole(fabric.linkCount)} links drawn`;
    const why = scene.hiddenCount ? `; ${whole(scene.hiddenCount)} below the least class are not` : "";
    const lost = fabric.isUp.reduce((sum, up) => sum + (up ? 0 : 1), 0);
    this.status.textContent = `${what}${why}.${lost ? ` ${lost === 1 ? "1 link is" : `${whole(lost)} links are`} down.` : ""}`;
    this.canvas.setAttribute("aria-label", `Fabric of ${whole(fabric.nodeCount)} devices. ${this.status.textContent} The table below has the same.`);
    // The picture is seen first.
    clearTimeout(this.tableTimer);
    this.tableTimer = setTimeout(() => this.tables.replaceChildren(...this.oddTable(), this.linkTable()), 0);
  }

  /** Nodes of the job that stand out. */
  private oddTable(): HTMLElement[] {
    if (!this.jobLinks) return [];
    const { fabric, odd } = this;
    const nodes = this.jobLinks.hosts.size;
    if (!odd.length) return [element("p", {}, `None of the job's ${whole(nodes)} nodes is far from their median.`)];
    const rows = odd.map(({ node, axis, value, median }) => [fabric.about.names[node]!, fabric.about.guids[node]!, AXES[axis]!, percent(value), percent(median)]);
    const caption = `Nodes with more than twice, or less than half, of the median of the job's ${whole(nodes)} nodes`;
    return [scrolled(table(caption, ["Node", "GUID", "What", "Of its capacity", "Median"], rows))];
  }

  /** The lines that are drawn, the highest first. */
  private linkTable(): HTMLElement {
    const { scene, values, state } = this;
    const numbers = values[state.metric];
    const directed = scene.links.flat().flatMap((link) => [2 * link, 2 * link + 1]);
    const places = highest(Float32Array.from(directed, (one) => numbers[one]!), MOST_ROWS);
    const rows = places.map((place) => this.cells(directed[place]!));
    const caption = rows.length
      ? `Directed links that are drawn, ${rows.length === MOST_ROWS ? `the ${MOST_ROWS} highest` : "the highest first"}`
      : "No directed link that is drawn has any.";
    return scrolled(table(caption, ["Sends", "Receives", "LIDs", "Speed", "Utilisation", "Storage", "Other", "Waiting", "Errors", "Jobs"], rows));
  }

  private cells(directed: number): Child[] {
    const { fabric, values } = this;
    const lids = [directed, directed ^ 1].map((end) => fabric.lid[fabric.end[end]!]!).join(" → ");
    const numbers = METRICS.map((metric) => worded(metric, values[metric][directed]!));
    return [endText(fabric, directed), endText(fabric, directed ^ 1), lids, fabric.speedOf(directed >> 1), ...numbers, element("span", {}, this.jobsOf(directed))];
  }

  private jobsOf(directed: number): string {
    const job = this.fabric.jobs.find(({ key }) => key === this.state.job);
    const own = this.jobLinks?.bytes.get(directed);
    if (job && own) return `${job.name}: ${bytes(own.read + own.write)}`;
    return this.fabric.sharersOf(directed).map(([each, moved]) => `${each.name} (${each.user}) ${bytes(moved)}`).join("; ");
  }

  private listen(): void {
    const { canvas, picture } = this;
    let start: { x: number; y: number; isDrag: boolean } | undefined;
    canvas.addEventListener("pointerdown", (event) => {
      start = { x: event.offsetX, y: event.offsetY, isDrag: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!start) return this.point(picture.pick(event.offsetX, event.offsetY), { x: event.offsetX, y: event.offsetY });
      const [dx, dy] = [event.offsetX - start.x, event.offsetY - start.y];
      if (!start.isDrag && Math.hypot(dx, dy) < DRAG) return;
      this.tip.hide();
      start = { x: event.offsetX, y: event.offsetY, isDrag: true };
      picture.pan(dx, dy);
    });
    canvas.addEventListener("pointerup", (event) => {
      const isClick = start && !start.isDrag;
      start = undefined;
      if (isClick) this.open(picture.pick(event.offsetX, event.offsetY));
    });
    canvas.addEventListener("pointercancel", () => (start = undefined));
    canvas.addEventListener("pointerleave", () => this.point(undefined));
    canvas.addEventListener(
      "wheel",
      (event) => {
        // Without focus, the wheel scrolls the page.
        if (document.activeElement !== canvas && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        picture.zoom(WHEEL_FACTOR ** -event.deltaY, event.offsetX, event.offsetY);
      },
      { passive: false },
    );
    onKeys(canvas, (key) => this.keyed(key));
  }

  private keyed(key: string): (() => void) | undefined {
    const { picture } = this;
    const keys: Record<string, () => void> = {
      "+": () => picture.zoom(1.6),
      "=": () => picture.zoom(1.6),
      "-": () => picture.zoom(1 / 1.6),
      "0": () => picture.reset(),
      ArrowLeft: () => picture.pan(60, 0),
      ArrowRight: () => picture.pan(-60, 0),
      ArrowUp: () => picture.pan(0, 60),
      ArrowDown: () => picture.pan(0, -60),
      n: () => this.step(1),
      p: () => this.step(-1),
      Enter: () => this.open(this.picked),
      Escape: () => this.point(undefined),
    };
    return keys[key];
  }

  /** Goes on to the next line that is drawn, the highest first, and after these to the devices. */
  private step(by: 1 | -1): void {
    const { scene } = this;
    const lines = Array.from(scene.value.keys()).sort((one, other) => (scene.value[other]! || 0) - (scene.value[one]! || 0));
    const hits: NonNullable<Hit>[] = [...lines.map((line) => ({ line })), ...scene.things.map((thing) => ({ thing }))];
    const { picked } = this;
    const same = (hit: NonNullable<Hit>): boolean =>
      picked !== undefined && ("line" in hit ? "line" in picked && hit.line === picked.line : "thing" in picked && hit.thing === picked.thing);
    const next = hits[hits.findIndex(same) + by];
    if (!next) return;
    const ends = "line" in next ? [scene.from[next.line]!, scene.to[next.line]!] : [next.thing];
    const points = ends.map((thing) => this.picture.pointOf(thing));
    this.point(next, { x: points.reduce((sum, { x }) => sum + x, 0) / points.length, y: points.reduce((sum, { y }) => sum + y, 0) / points.length });
  }

  /** Opens a chassis or the hosts of a switch, or folds them again. */
  private open(hit: Hit): void {
    if (!hit || !("thing" in hit)) return;
    const { nodeCount, chassis, parent } = this.fabric;
    const { thing } = hit;
    const own = thing < nodeCount && !this.fabric.isSwitch(thing) ? parent[thing]! : thing;
    if (own < 0) return;
    // A chip without hosts folds its chassis.
    const target = own < nodeCount && chassis[own]! >= 0 && !parent.includes(own) ? nodeCount + chassis[own]! : own;
    if (!this.opened.delete(target)) this.opened.add(target);
    this.show();
  }

  private point(hit: Hit, at?: { x: number; y: number }): void {
    const isSame = JSON.stringify(hit) === JSON.stringify(this.picked);
    this.picked = hit;
    if (!isSame) this.picture.point(hit);
    if (!hit || !at) return this.tip.hide();
    this.tip.show("line" in hit ? this.lineWords(hit.line) : this.thingWords(hit.thing), at, this.canvas.clientWidth);
  }

  private lineWords(line: number): [string, string][] {
    const { fabric, scene, values } = this;
    const links = scene.links[line]!;
    const numbers = values[this.state.metric];
    const worst = links.flatMap((link) => [2 * link, 2 * link + 1]).reduce((one, other) => ((numbers[other]! || 0) > (numbers[one]! || 0) ? other : one));
    const [link, names] = [worst >> 1, fabric.about.names];
    const end = (directed: number): string => {
      const node = fabric.end[directed]!;
      return `${names[node]} port ${fabric.port[directed]}, GUID ${fabric.about.guids[node]}, LID ${fabric.lid[node]}`;
    };
    const words: [string, string][] = [
      ...(links.length > 1 ? [["Links", `${links.length}; the highest of them:`] as [string, string]] : []),
      ["Sends", end(worst)],
      ["Receives", end(worst ^ 1)],
      ["Speed", `${fabric.speedOf(link)}, ${fabric.isUp[link] ? `${bytes(fabric.capacity[link]!)}/s` : "down"}`],
      ...METRICS.map((metric): [string, string] => [NAMES[metric], worded(metric, values[metric][worst]!, fabric.capacity[link])]),
    ];
    if (!this.window) words.push(["Highest of ten minutes", percent(values.peak[worst]!)]);
    const jobs = this.jobsOf(worst);
    return jobs ? [...words, ["Jobs", jobs]] : words;
  }

  /** A device's name; a chassis has that of its first chip. */
  private nameOf(thing: number): string {
    const { nodeCount, chassis, about } = this.fabric;
    return about.names[thing < nodeCount ? thing : chassis.indexOf(thing - nodeCount)]!;
  }

  private thingWords(thing: number): [string, string][] {
    const { fabric, state } = this;
    const { nodeCount, about } = fabric;
    if (thing >= nodeCount) {
      const chips = Array.from(fabric.chassis.keys()).filter((node) => fabric.chassis[node] === thing - nodeCount);
      return [["Chassis", `${chips.length} chips`], ["Chips", chips.slice(0, 6).map((node) => about.names[node]).join(", ")], ...this.shapeWords(thing)];
    }
    const hosts = fabric.parent.reduce((sum, above) => sum + (above === thing ? 1 : 0), 0);
    const words: [string, string][] = [
      ["Name", about.names[thing]!],
      ["Is", `${about.kinds[fabric.kind[thing]!] ?? "device"}${fabric.isSwitch(thing) ? `, tier ${fabric.tier[thing] === 255 ? "not known" : fabric.tier[thing]}` : ""}`],
      ["Calls itself", about.descriptions[thing]!],
      ["GUID", about.guids[thing]!],
      ["LID", String(fabric.lid[thing])],
    ];
    if (hosts) words.push(["Hosts", whole(hosts)]);
    if (this.jobLinks && state.job) {
      const kind = this.jobLinks.hosts.has(thing) ? "a node" : this.jobLinks.servers.has(thing) ? "a server" : "";
      if (kind) words.push(["Of the job", kind]);
    }
    const odd = this.odd.find(({ node }) => node === thing);
    if (odd) words.push(["Stands out", `${AXES[odd.axis]}: ${percent(odd.value)}, median ${percent(odd.median)}`]);
    return [...words, ...this.shapeWords(thing)];
  }

  private shapeWords(thing: number): [string, string][] {
    if (!this.shapes) return [];
    const numbers = this.state.isRelative ? this.shapes.relative : this.shapes.absolute;
    return AXES.map((axis, at) => [`${axis[0]!.toUpperCase()}${axis.slice(1)}`, percent(numbers[thing * AXES.length + at]!)]);
  }
}

const LEAST_NAMES: [string, string][] = CLASSES.map(([name]) => [
  name,
  { congested: "congested", busy: "busy and above, and the top 200", good: "good and above", light: "light and above", all: "all" }[name]!,
]);

/** What a device adds its traffic to: a chip to its chassis where that is folded, all others to themselves. */
function glyphOf({ nodeCount }: Fabric, shown: Int32Array): (node: number) => number {
  return (node) => (shown[node]! >= nodeCount ? shown[node]! : node);
}

function jobText({ name, user, app, bytes: moved }: Job): string {
  return [name, user, app, moved === null ? "" : bytes(moved)].filter(Boolean).join(" · ");
}

function scrolled(child: HTMLTableElement): HTMLElement {
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": child.caption?.textContent ?? "Table" }, child);
}

/** The state that an address asks for; what makes no sense is left out. */
function stateOf(hash: string, fabric: Fabric): State {
  const asked = new URLSearchParams(hash.slice(1));
  const time = /^(\d\d):(\d)0$/.exec(asked.get("time") ?? "");
  const slot = time ? Number(time[1]) * 6 + Number(time[2]) : -1;
  const job = fabric.jobs.find(({ key, name }) => key === asked.get("job") || name === asked.get("job"));
  return {
    time: slot < fabric.about.slots && fabric.about.night ? slot : -1,
    span: Number(SPANS.find(([count]) => Number(count) * 10 === Number(asked.get("minutes")))?.[0] ?? 1),
    metric: METRICS.find((name) => name === asked.get("metric")) ?? DEFAULT.metric,
    job: job?.key ?? NO_JOB,
    // Where nothing is known of links, none is busy, and a picture without links says nothing.
    least: CLASSES.find(([name]) => name === asked.get("class"))?.[0] ?? (fabric.about.night ? DEFAULT.least : "all"),
    isEach: asked.get("links") === "each",
    hosts: asked.get("hosts") === "all" ? "all" : "folded",
    glyphs: (["none", "room", "all"] as const).find((name) => name === asked.get("glyphs")) ?? DEFAULT.glyphs,
    isRelative: asked.get("of") === "total",
  };
}

function hashOf({ time, span, metric, job, least, isEach, hosts, glyphs, isRelative }: State): string {
  const said: [string, string, boolean][] = [
    ["time", clockOf(time), time >= 0],
    ["minutes", String(span * 10), time >= 0 && span > 1],
    ["metric", metric, metric !== DEFAULT.metric],
    ["job", job, job !== NO_JOB],
    ["class", least, least !== DEFAULT.least],
    ["links", "each", isEach],
    ["hosts", "all", hosts === "all"],
    ["glyphs", glyphs, glyphs !== DEFAULT.glyphs],
    ["of", "total", isRelative],
  ];
  return said.filter(([, , isSaid]) => isSaid).map(([name, value]) => `${name}=${encodeURIComponent(value).replace("%3A", ":")}`).join("&");
}

function themeOf(node: Element): FabricTheme {
  const style = getComputedStyle(node);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { paper: of("raised"), ink: of("ink"), soft: of("soft"), line: of("line"), accent: of("accent"), warm: of("warm"), ramp: of("ramp").split(" ") };
}
