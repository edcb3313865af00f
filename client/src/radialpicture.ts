/** Draws circles of nodes with edges between them, each a strip of its own values, and the values over time below. */

import { counted, whole } from "./format";
import { type About, type Metric, type Nodes, type Ring, type Sums, type Window } from "./radialdata";
import { briefly, timeText, titled, valueTicks } from "./radialscale";
import { palette, SHADES } from "./theme";

/** Radii of the circles, of the outermost: of three, and of two. */
const RADII_OF_THREE = [1, 0.53, 0.17];
const RADII_OF_TWO = [1, 0.3];
const NARROW = 600;
const MOST_SIDE = 860;
const LEGEND = 26;
const STRIP = 74;
const STRIP_TOP = 18;
const TIMES = 22;
const LEFT = 64;
const RIGHT = 10;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif";
/** Pixels within which an edge or a node is pointed at. */
const PICK = 6;
const BAND = 7;
const WIDEST = 7;
/** Pieces of so few edges are bent in as many steps. */
const BENT = 4;
/** So many grey lines are not faint. */
const SOLID = 600;
const MOST_BENT = 20_000;
const TURN = 2 * Math.PI;

export interface RadialTheme {
  paper: string;
  ink: string;
  soft: string;
  line: string;
  faint: string;
  accent: string;
  /** Colours of both rings, from few requests to many. */
  ramps: [string[], string[]];
}

/** A ring as it is drawn. */
export interface DrawnRing {
  ring: Ring;
  metric: Metric;
  counts: Uint32Array;
  /** By bin of time, of what is in sight. */
  series: Sums;
  /** The ends of the range of values that is drawn. */
  least: number;
  most: number;
  /** Why nothing is drawn, empty where something is. */
  lack: string;
}

export interface Drawn {
  about: About;
  rings: DrawnRing[];
  window: Window;
  /** Nodes whose edges are lit, a set for each circle; all edges are where none is chosen. */
  chosen: Set<number>[];
}

export type Hit = { ring: number; edge: number } | { circle: number; node: number } | undefined;
type Point = { x: number; y: number };

export class RadialPicture {
  private readonly context: CanvasRenderingContext2D;
  /** Everything but what is pointed at, and the grey beneath. */
  private readonly layer = document.createElement("canvas");
  private readonly grey = document.createElement("canvas");
  private greyOf: unknown[] = [];
  private drawn: Drawn | undefined;
  private theme: RadialTheme | undefined;
  private angles: Float64Array[] = [];
  private points = new Map<Ring, { steps: number; xs: Float32Array; ys: Float32Array }>();
  private hit: Hit;
  private brush: [number, number] | undefined;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
  }

  get width(): number {
    return this.canvas.clientWidth;
  }

  private get side(): number {
    return Math.min(this.width, MOST_SIDE);
  }

  private get radius(): number {
    return this.side / 2 - (this.width < NARROW ? 46 : 52);
  }

  private get radii(): number[] {
    return this.angles.length === 2 ? RADII_OF_TWO : RADII_OF_THREE;
  }

  private get centre(): Point {
    return { x: this.width / 2, y: this.side / 2 };
  }

  /** Where the strips of time begin. */
  private get lower(): number {
    return this.side + (this.drawn?.rings.length ?? 2) * LEGEND * (this.width < NARROW ? 2 : 1) + 4;
  }

  private get height(): number {
    return this.lower + this.strips + TIMES;
  }

  /** Height of the strips of time. */
  private get strips(): number {
    return (this.drawn?.rings.length ?? 2) * STRIP;
  }

  show(drawn: Drawn, theme: RadialTheme): void {
    if (drawn.about !== this.drawn?.about) {
      this.angles = drawn.about.circles.map(anglesOf);
      this.points.clear();
    }
    [this.drawn, this.theme] = [drawn, theme];
    if (!this.resize()) this.redraw();
  }

  /** Fits the canvas to its place; says whether it has drawn. */
  resize(): boolean {
    if (!this.drawn || !this.width) return false;
    this.canvas.style.height = `${this.height}px`;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width === width && this.canvas.height === height) return false;
    for (const each of [this.canvas, this.layer, this.grey]) [each.width, each.height] = [width, height];
    this.points.clear();
    this.greyOf = [];
    this.redraw();
    return true;
  }

  /** Whether a point lies on the strips of time, and which bin is there. */
  binAt(x: number, y: number): number | undefined {
    if (!this.drawn || y < this.lower - STRIP_TOP / 2) return undefined;
    const { bins } = this.drawn.about.time;
    return Math.min(Math.max(((x - LEFT) / (this.width - LEFT - RIGHT)) * bins, 0), bins);
  }

  /** Shows a window that is being drawn, before it is chosen. */
  frame(brush: [number, number] | undefined): void {
    this.brush = brush;
    this.blit();
  }

  point(hit: Hit): void {
    this.hit = hit;
    this.blit();
  }

  /** What is at a point: a node rather than an edge. */
  pick(px: number, py: number): Hit {
    if (!this.drawn) return undefined;
    const { centre, radius } = this;
    const far = Math.hypot(px - centre.x, py - centre.y);
    const angle = Math.atan2(py - centre.y, px - centre.x);
    for (let circle = 0; circle < this.angles.length; circle++) {
      const off = far - this.radii[circle]! * radius;
      if (off > PICK + (circle ? 0 : BAND) || off < -PICK) continue;
      const node = nearest(this.angles[circle]!, angle);
      // Arcs fill their circle, other nodes are dots.
      const isNear = !circle || Math.abs(turned(this.angles[circle]![node]! - angle)) * far < 2 * PICK;
      if (node >= 0 && isNear) return { circle, node };
    }
    const number = this.radii.slice(1).findIndex((each) => far > each * radius);
    if (number < 0) return undefined;
    const { ring } = this.drawn.rings[number]!;
    const [from, to] = [this.angles[number]!, this.angles[number + 1]!];
    const u = (this.radii[number]! * radius - far) / ((this.radii[number]! - this.radii[number + 1]!) * radius);
    if (u < 0 || u > 1) return undefined;
    let [best, least] = [-1, PICK / Math.max(far, 1)];
    for (let edge = 0; edge < ring.edgeCount; edge++) {
      if (!this.isLit(number, ring.from[edge]!, ring.to[edge]!)) continue;
      const start = from[ring.from[edge]!]!;
      const off = Math.abs(turned(start + turned(to[ring.to[edge]!]! - start) * u - angle));
      if (off < least) [best, least] = [edge, off];
    }
    return best < 0 ? undefined : { ring: number, edge: best };
  }

  /** Where a node, or the middle of an edge, stands. */
  pointOf(hit: NonNullable<Hit>): Point {
    if ("node" in hit) return this.at(this.radii[hit.circle]! * this.radius, this.angles[hit.circle]![hit.node]!);
    const [number, edge] = [hit.ring, hit.edge];
    const { ring } = this.drawn!.rings[number]!;
    const start = this.angles[number]![ring.from[edge]!]!;
    const turn = turned(this.angles[number + 1]![ring.to[edge]!]! - start);
    return this.at(((this.radii[number]! + this.radii[number + 1]!) / 2) * this.radius, start + turn / 2);
  }

  isLit(ring: number, from: number, to: number): boolean {
    const { chosen } = this.drawn!;
    return chosen.every((nodes) => !nodes.size) || chosen[ring]!.has(from) || chosen[ring + 1]!.has(to);
  }

  private at(radius: number, angle: number): Point {
    return { x: this.centre.x + radius * Math.cos(angle), y: this.centre.y + radius * Math.sin(angle) };
  }

  private redraw(): void {
    if (!this.drawn || !this.theme || !this.canvas.width) return;
    const start = performance.now();
    const context = this.layer.getContext("2d")!;
    const ratio = this.canvas.width / this.width;
    this.drawGrey(ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.grey, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    const mosts = this.drawn.rings.map((ring, number) => this.drawPieces(context, ring, number));
    this.drawAxes(context);
    this.drawNodes(context);
    this.drawLegend(context, mosts);
    this.drawTime(context);
    this.blit();
    this.canvas.dataset["took"] = (performance.now() - start).toFixed(1);
  }

  private blit(): void {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.layer, 0, 0);
    const ratio = this.canvas.width / Math.max(this.width, 1);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (!this.drawn || !this.theme) return;
    if (this.hit) this.drawHit(this.hit);
    if (!this.brush) return;
    const [left, right] = this.brush.map((bin) => this.xOf(bin)) as [number, number];
    context.strokeStyle = this.theme.accent;
    context.lineWidth = 2;
    context.strokeRect(left, this.lower, right - left, this.strips - 4);
  }

  /** Paper, and a grey line for each edge, which change only with size, colours and edges. */
  private drawGrey(ratio: number): void {
    const { rings } = this.drawn!;
    const of = [this.theme, ...rings.map(({ ring }) => ring)];
    if (of.every((each, at) => each === this.greyOf[at])) return;
    this.greyOf = of;
    const context = this.grey.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.theme!.paper;
    context.fillRect(0, 0, this.width, this.height);
    context.strokeStyle = this.theme!.line;
    context.lineWidth = 1;
    rings.forEach(({ ring }, number) => {
      // Thousands of lines would fill their ring.
      context.globalAlpha = Math.min(Math.max(SOLID / ring.edgeCount, 0.25), 1);
      context.beginPath();
      for (let edge = 0; edge < ring.edgeCount; edge++) this.curve(context, ring, number, edge);
      context.stroke();
    });
    context.globalAlpha = 1;
  }

  private curve(context: CanvasRenderingContext2D, ring: Ring, number: number, edge: number): void {
    const start = this.angles[number]![ring.from[edge]!]!;
    const turn = turned(this.angles[number + 1]![ring.to[edge]!]! - start);
    const steps = Math.max(Math.ceil(Math.abs(turn) * (ring.edgeCount > SOLID ? 4 : 12)), 1);
    for (let step = 0; step <= steps; step++) {
      const u = step / steps;
      const { x, y } = this.at((this.radii[number]! + (this.radii[number + 1]! - this.radii[number]!) * u) * this.radius, start + turn * u);
      if (step) context.lineTo(x, y);
      else context.moveTo(x, y);
    }
  }

  /** Ends of pieces, and `steps - 1` points between two, the highest value of an edge outside. */
  private pointsOf(ring: Ring, number: number): { steps: number; xs: Float32Array; ys: Float32Array } {
    const found = this.points.get(ring);
    if (found) return found;
    const { edgeCount } = ring;
    const steps = edgeCount * ring.bins > MOST_BENT ? 1 : BENT;
    const last = ring.bins * steps;
    const [xs, ys] = [new Float32Array(edgeCount * (last + 1)), new Float32Array(edgeCount * (last + 1))];
    const { centre, radius } = this;
    for (let edge = 0, at = 0; edge < edgeCount; edge++) {
      const start = this.angles[number]![ring.from[edge]!]!;
      const turn = turned(this.angles[number + 1]![ring.to[edge]!]! - start);
      for (let end = 0; end <= last; end++, at++) {
        const u = 1 - end / last;
        const far = (this.radii[number]! + (this.radii[number + 1]! - this.radii[number]!) * u) * radius;
        xs[at] = centre.x + far * Math.cos(start + turn * u);
        ys[at] = centre.y + far * Math.sin(start + turn * u);
      }
    }
    const made = { steps, xs, ys };
    this.points.set(ring, made);
    return made;
  }

  /** Pieces by colour, those of most requests last, so that they lie on top; returns the highest count. */
  private drawPieces(context: CanvasRenderingContext2D, { ring, counts }: DrawnRing, number: number): number {
    const { bins } = ring;
    const isAll = this.drawn!.chosen.every((nodes) => !nodes.size);
    let most = 0;
    for (const count of counts) if (count > most) most = count;
    if (!most) return 0;
    const { steps, xs, ys } = this.pointsOf(ring, number);
    const scale = (SHADES - 1) / Math.log(Math.max(most, 2));
    const shades = new Uint8Array(counts.length);
    const starts = new Uint32Array(SHADES + 1);
    let lit = 0;
    for (let edge = 0, piece = 0; edge < ring.edgeCount; edge++) {
      const isLit = isAll || this.isLit(number, ring.from[edge]!, ring.to[edge]!);
      if (isLit) lit++;
      for (let bin = 0; bin < bins; bin++, piece++) {
        const count = counts[piece]!;
        if (!count || !isLit) continue;
        shades[piece] = 1 + Math.round(Math.log(count) * scale);
        starts[shades[piece]!]!++;
      }
    }
    for (let shade = 1; shade <= SHADES; shade++) starts[shade]! += starts[shade - 1]!;
    const order = new Uint32Array(starts[SHADES]!);
    const next = starts.slice();
    for (let piece = 0; piece < shades.length; piece++) if (shades[piece]) order[next[shades[piece]! - 1]!++] = piece;
    const colours = palette(this.theme!.ramps[number]!);
    // Browsers draw lines of up to a pixel several times as fast as wider ones, and of many edges there is no more room.
    context.lineWidth = Math.min(Math.max((0.5 * TURN * this.radii[number + 1]! * this.radius) / Math.max(lit, 1), 1), WIDEST);
    for (let shade = 0; shade < SHADES; shade++) {
      if (starts[shade] === starts[shade + 1]) continue;
      context.beginPath();
      for (let at = starts[shade]!; at < starts[shade + 1]!; at++) {
        const piece = order[at]!;
        const place = piece * steps + Math.floor(piece / bins);
        context.moveTo(xs[place]!, ys[place]!);
        for (let step = 1; step <= steps; step++) context.lineTo(xs[place + step]!, ys[place + step]!);
      }
      context.strokeStyle = colours[shade]!;
      context.stroke();
    }
    return most;
  }

  /** Circles at round values, which are written at the top. */
  private drawAxes(context: CanvasRenderingContext2D): void {
    this.drawn!.rings.forEach(({ metric, least, most, lack }, number) => {
      const [outside, inside] = [this.radii[number]! * this.radius, this.radii[number + 1]! * this.radius];
      if (lack) return this.lackText(context, lack, (outside + inside) / 2);
      for (const value of valueTicks(metric, least, most, Math.floor((outside - inside) / 30))) {
        const far = inside + ((outside - inside) * Math.log(value / least)) / Math.log(most / least);
        context.globalAlpha = 0.35;
        context.lineWidth = 1;
        context.strokeStyle = this.theme!.soft;
        context.beginPath();
        context.arc(this.centre.x, this.centre.y, far, 0, TURN);
        context.stroke();
        context.globalAlpha = 1;
        this.haloed(context, briefly(metric, value), this.centre.x, this.centre.y - far, "center");
      }
    });
  }

  private lackText(context: CanvasRenderingContext2D, lack: string, far: number): void {
    const lines = broken(lack, Math.max(Math.floor((1.6 * far) / 6.5), 12));
    lines.forEach((line, at) => this.haloed(context, line, this.centre.x, this.centre.y - far + 15 * (at - (lines.length - 1) / 2), "center"));
  }

  private haloed(context: CanvasRenderingContext2D, text: string, x: number, y: number, align: CanvasTextAlign): void {
    context.textAlign = align;
    context.textBaseline = "middle";
    context.lineWidth = 4;
    context.lineJoin = "round";
    context.strokeStyle = this.theme!.paper;
    context.strokeText(text, x, y);
    context.fillStyle = this.theme!.ink;
    context.fillText(text, x, y);
  }

  private drawNodes(context: CanvasRenderingContext2D): void {
    const { about, chosen } = this.drawn!;
    const theme = this.theme!;
    this.drawArcs(context, about.circles[0]!, chosen[0]!);
    about.circles.slice(1).forEach((_, inner) => {
      const circle = inner + 1;
      const far = this.radii[circle]! * this.radius;
      const count = this.angles[circle]!.length;
      const size = Math.min(Math.max((0.3 * TURN * far) / Math.max(count, 1), 0.5), 5);
      context.lineWidth = Math.min(size, 1);
      context.strokeStyle = theme.soft;
      for (const isChosen of [false, true]) {
        context.beginPath();
        this.angles[circle]!.forEach((angle, node) => {
          if (chosen[circle]!.has(node) !== isChosen) return;
          const { x, y } = this.at(far, angle);
          const radius = isChosen ? size + 2 : size;
          context.moveTo(x + radius, y);
          context.arc(x, y, radius, 0, TURN);
        });
        context.fillStyle = isChosen ? theme.accent : theme.paper;
        context.fill();
        context.stroke();
      }
    });
    this.drawLabels(context);
  }

  /** Arcs of the outer circle, in turns of two greys by host. */
  private drawArcs(context: CanvasRenderingContext2D, nodes: Nodes, chosen: Set<number>): void {
    const { theme, radius, centre } = this;
    const angles = this.angles[0]!;
    const far = radius + 2 + BAND / 2;
    let turn = 0;
    angles.forEach((_, node) => {
      if (!node || nodes.hosts[node] !== nodes.hosts[node - 1] || nodes.hosts[node] == null) turn++;
      const [start, end] = this.endsOf(node);
      context.beginPath();
      context.arc(centre.x, centre.y, far, start, end);
      context.lineWidth = BAND;
      context.strokeStyle = chosen.has(node) ? theme!.accent : turn % 2 ? theme!.soft : theme!.line;
      context.stroke();
    });
  }

  /** Where an arc begins and ends: halfway to its neighbours. */
  private endsOf(node: number): [number, number] {
    const angles = this.angles[0]!;
    const at = angles[node]!;
    if (angles.length === 1) return [at - TURN / 2, at + TURN / 2];
    const halfTo = (other: number): number => Math.abs(turned(angles[(other + angles.length) % angles.length]! - at)) / 2;
    return [at - halfTo(node - 1), at + halfTo(node + 1)];
  }

  private drawLabels(context: CanvasRenderingContext2D): void {
    const { about } = this.drawn!;
    context.fillStyle = this.theme!.soft;
    context.textBaseline = "middle";
    const isNarrow = this.width < NARROW;
    const outer = about.circles[0]!;
    const step = roundStep(outer.labels.length / (isNarrow ? 8 : 20));
    for (let node = 0; node < outer.labels.length; node += step) {
      const angle = this.angles[0]![node]!;
      const text = outer.one === "rank" && outer.firstRanks.length ? whole(outer.firstRanks[node]!) : cut(outer.labels[node]!, isNarrow ? 4 : 9);
      const { x, y } = this.at(this.radius + BAND + 5, angle);
      context.textAlign = Math.abs(Math.cos(angle)) < 0.15 ? "center" : Math.cos(angle) > 0 ? "left" : "right";
      context.fillText(text, x, y + 5 * Math.sin(angle));
    }
    for (let circle = 1; circle < about.circles.length; circle++) {
      const labels = about.circles[circle]!.labels;
      if (isNarrow || labels.length > (circle === 1 && about.circles.length > 2 ? 20 : 8)) continue;
      labels.forEach((label, node) => {
        const angle = this.angles[circle]![node]!;
        // Those of the innermost circle have no room but side by side.
        const isCentred = circle === 2 || Math.abs(Math.cos(angle)) < 0.3;
        const { x, y } = this.at(this.radii[circle]! * this.radius - (circle === 2 ? 14 : 8), angle);
        this.haloed(context, cut(label, circle === 1 ? 14 : 7), x, y, isCentred ? "center" : Math.cos(angle) > 0 ? "right" : "left");
      });
    }
  }

  /** What the colours of each ring stand for. */
  private drawLegend(context: CanvasRenderingContext2D, mosts: number[]): void {
    const { about, rings } = this.drawn!;
    const theme = this.theme!;
    const isNarrow = this.width < NARROW;
    const wide = isNarrow ? 90 : 160;
    rings.forEach(({ metric }, number) => {
      const top = this.side + number * LEGEND * (isNarrow ? 2 : 1) + LEGEND / 2;
      const what = `${this.ringName(number)}${about.circles[number]!.many} to ${about.circles[number + 1]!.many}, ${titled(metric)}`;
      context.textBaseline = "middle";
      context.textAlign = "left";
      context.fillStyle = theme.ink;
      context.fillText(what, isNarrow ? 4 : LEFT, top);
      const line = isNarrow ? top + LEGEND : top;
      let x = isNarrow ? 4 : Math.max(this.width / 2, LEFT + context.measureText(what).width + 24);
      context.fillStyle = theme.line;
      context.fillRect(x, line - 5, 14, 10);
      context.fillStyle = theme.soft;
      context.fillText("none", x + 19, line);
      x += 60;
      if (!mosts[number]) return;
      context.fillText("1", x, line);
      x += 12;
      palette(theme.ramps[number]!).forEach((colour, shade) => {
        context.fillStyle = colour;
        context.fillRect(x + (shade * wide) / SHADES, line - 5, wide / SHADES + 1, 10);
      });
      context.fillStyle = theme.soft;
      context.fillText(counted(mosts[number]!, about.counts), x + wide + 6, line);
    });
  }

  private ringName(number: number): string {
    return this.drawn!.rings.length < 2 ? "Edges: " : number ? "Inner: " : "Outer: ";
  }

  private xOf(bin: number): number {
    return LEFT + (bin / this.drawn!.about.time.bins) * (this.width - LEFT - RIGHT);
  }

  /** Mean, least and most by time: bands that fade from the mean to both ends. */
  private drawTime(context: CanvasRenderingContext2D): void {
    const { about, rings, window } = this.drawn!;
    const theme = this.theme!;
    const { bins } = about.time;
    rings.forEach((ring, number) => {
      const top = this.lower + number * STRIP;
      const [upper, lower] = [top + STRIP_TOP, top + STRIP - 6];
      context.textAlign = "left";
      context.textBaseline = "middle";
      context.fillStyle = theme.soft;
      const of = `${this.ringName(number)}mean, least and most ${titled(ring.metric)}`;
      context.fillText(of, LEFT, top + 8);
      context.fillStyle = theme.faint;
      context.fillRect(LEFT, upper, this.width - LEFT - RIGHT, lower - upper);
      if (ring.lack) return;
      const yOf = (value: number): number => {
        const share = Math.log(Math.max(value, ring.least) / ring.least) / Math.log(ring.most / ring.least);
        return lower - Math.min(Math.max(share, 0), 1) * (lower - upper);
      };
      const colour = palette(theme.ramps[number]!)[SHADES >> 1]!;
      const { count, sum, least, most } = ring.series;
      context.fillStyle = colour;
      for (let bin = 0; bin < bins; bin++) {
        if (!count[bin]) continue;
        const [x, next] = [this.xOf(bin), this.xOf(bin + 1)];
        const [high, middle, low] = [yOf(most[bin]!), yOf(sum[bin]! / count[bin]!), yOf(least[bin]!)];
        for (const [end, alpha] of [[1, 0.18], [0.66, 0.22], [0.33, 0.3]] as const) {
          context.globalAlpha = alpha;
          const from = middle + (high - middle) * end;
          context.fillRect(x, from, next - x, Math.max(middle + (low - middle) * end - from, 1));
        }
        context.globalAlpha = 1;
        context.fillRect(x, middle - 1, next - x, 2);
      }
      context.fillStyle = theme.soft;
      context.textAlign = "right";
      context.fillText(briefly(ring.metric, ring.most), LEFT - 5, upper + 4);
      context.fillText(briefly(ring.metric, ring.least), LEFT - 5, lower - 4);
    });
    const below = this.lower + this.strips;
    const step = Math.ceil(bins / (this.width < NARROW ? 3 : 8));
    context.fillStyle = theme.soft;
    for (let bin = 0; bin <= bins; bin += step) {
      context.textAlign = bin === bins || this.xOf(bin) > this.width - 40 ? "right" : bin ? "center" : "left";
      context.fillText(timeText(about, bin), this.xOf(bin), below + 8);
    }
    if (window.from === 0 && window.to === bins) return;
    context.fillStyle = theme.paper;
    context.globalAlpha = 0.72;
    context.fillRect(LEFT, this.lower + STRIP_TOP, this.xOf(window.from) - LEFT, this.strips - STRIP_TOP - 6);
    context.fillRect(this.xOf(window.to), this.lower + STRIP_TOP, this.width - RIGHT - this.xOf(window.to), this.strips - STRIP_TOP - 6);
    context.globalAlpha = 1;
    context.strokeStyle = theme.accent;
    context.lineWidth = 2;
    context.strokeRect(this.xOf(window.from), this.lower + STRIP_TOP - 1, this.xOf(window.to) - this.xOf(window.from), this.strips - STRIP_TOP - 4);
  }

  private drawHit(hit: NonNullable<Hit>): void {
    const { context } = this;
    context.strokeStyle = this.theme!.ink;
    context.lineWidth = 2;
    context.beginPath();
    if ("edge" in hit) this.curve(context, this.drawn!.rings[hit.ring]!.ring, hit.ring, hit.edge);
    else if (hit.circle) {
      const { x, y } = this.pointOf(hit);
      context.arc(x, y, 8, 0, TURN);
    } else {
      const [start, end] = this.endsOf(hit.node);
      context.lineWidth = BAND + 4;
      context.arc(this.centre.x, this.centre.y, this.radius + 2 + BAND / 2, start, Math.max(end, start + 3 / this.radius));
    }
    context.stroke();
  }
}

/** The angle of each node, from the top on: at its position, or evenly where some would lie on others. */
function anglesOf({ labels, positions }: Nodes): Float64Array {
  const count = labels.length;
  const order = Array.from({ length: count }, (_, node) => node);
  if (positions.length) order.sort((one, other) => positions[one]! - positions[other]! || one - other);
  const isApart = positions.length > 0 && order.every((node, at) => !at || positions[node]! - positions[order[at - 1]!]! >= 0.5 / count);
  const angles = new Float64Array(count);
  order.forEach((node, at) => (angles[node] = TURN * (isApart ? positions[node]! : (at + 0.5) / count) - TURN / 4));
  return angles;
}

/** An angle brought into (-pi, pi]. */
function turned(angle: number): number {
  const rest = angle - TURN * Math.round(angle / TURN);
  return rest <= -Math.PI ? rest + TURN : rest;
}

function nearest(angles: Float64Array, angle: number): number {
  let [best, least] = [-1, Infinity];
  for (let node = 0; node < angles.length; node++) {
    const off = Math.abs(turned(angles[node]! - angle));
    if (off < least) [best, least] = [node, off];
  }
  return best;
}

/** The least of 1, 2, 4, 8, … that is not below. */
function roundStep(step: number): number {
  return step <= 1 ? 1 : 2 ** Math.ceil(Math.log2(step));
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** A sentence in lines of about so many signs. */
function broken(text: string, most: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.length - 1;
    if (lines[last] && lines[last].length + word.length >= most) lines.push(word);
    else lines[last] = lines[last] ? `${lines[last]} ${word}` : word;
  }
  return lines;
}
