/** Draws a scene on a canvas: lines by colour, devices, glyphs; a bitmap of it follows the pointer until it stands still. */

import { drawGlyphs } from "./fabricglyphs";
import type { Scene } from "./fabricscene";
import { palette, SHADES } from "./theme";

const SETTLED_MS = 120;
const LEAST_GLYPH = 6;
const PICK = 5;
/** Of names: pixels high, signs long, and how many there are at most. */
const NAME_HEIGHT = 12;
const NAME_SIGNS = 28;
const MOST_NAMES = 200;
/** As many ends of the highest lines are named on devices of any size. */
const NAMED_ENDS = 6;
/** Pixels between parallel lines. */
const APART = 3;
/** Room around the picture, for a name below it. */
const MARGIN = 18;
/** Share of the scale from which lines are wide among thousands of others. */
const WIDE = 0.85;

export interface FabricTheme {
  paper: string;
  ink: string;
  soft: string;
  line: string;
  accent: string;
  warm: string;
  /** From nothing to most. */
  ramp: string[];
}

export interface Drawn {
  scene: Scene;
  /** Shade of each line; 255 where nothing is known. */
  shades: Uint8Array;
  kindOf: (thing: number) => "switch" | "host" | "other" | "chassis";
  nameOf: (thing: number) => string;
  /** Numbers on the axes of glyphs by thing; none where there are no glyphs. */
  shapes: Float32Array | undefined;
  /** Draws glyphs also where they are smaller than can be read. */
  isEverywhere: boolean;
  /** Devices of a job, and those of them that stand out. */
  marked: ReadonlySet<number>;
  odd: ReadonlySet<number>;
}

export type Hit = { thing: number } | { line: number } | undefined;

export class FabricPicture {
  private readonly context: CanvasRenderingContext2D;
  private readonly layer = document.createElement("canvas");
  private drawn: Drawn | undefined;
  private theme: FabricTheme | undefined;
  /** Pixels for a unit, and where (0, 0) stands. */
  private scale = 1;
  private left = 0;
  private top = 0;
  private layerAt = { scale: 1, left: 0, top: 0 };
  private timer: number | undefined;
  private hit: Hit;
  private isWhole = true;
  /** Milliseconds of the last drawing. */
  took = 0;

  constructor(readonly canvas: HTMLCanvasElement) {
    this.context = canvas.getContext("2d")!;
  }

  get width(): number {
    return this.canvas.clientWidth;
  }

  get height(): number {
    return this.canvas.clientHeight;
  }

  /** Draws; all of it is put in sight where `isFitted`, unless somebody has moved it. */
  show(drawn: Drawn, theme: FabricTheme, isFitted: boolean): void {
    [this.drawn, this.theme] = [drawn, theme];
    if (isFitted && this.isWhole) this.fit();
    this.redraw();
  }

  resize(): void {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (this.canvas.width === width && this.canvas.height === height) return;
    for (const each of [this.canvas, this.layer]) [each.width, each.height] = [width, height];
    if (this.isWhole) this.fit();
    this.redraw();
  }

  /** Shows everything. */
  reset(): void {
    this.isWhole = true;
    this.fit();
    this.redraw();
  }

  zoom(factor: number, x = this.width / 2, y = this.height / 2): void {
    const scale = Math.min(Math.max(this.scale * factor, 0.1), 400);
    this.left = x - ((x - this.left) * scale) / this.scale;
    this.top = y - ((y - this.top) * scale) / this.scale;
    this.scale = scale;
    this.moved();
  }

  pan(x: number, y: number): void {
    this.left += x;
    this.top += y;
    this.moved();
  }

  /** Where a thing stands on the canvas. */
  pointOf(thing: number): { x: number; y: number } {
    const { scene } = this.drawn!;
    return { x: this.left + scene.x[thing]! * this.scale, y: this.top + scene.y[thing]! * this.scale };
  }

  /** What is at a point: a device rather than a line. */
  pick(px: number, py: number): Hit {
    if (!this.drawn) return undefined;
    const { scene } = this.drawn;
    let [best, least] = [-1, Infinity];
    for (const thing of scene.things) {
      const { x, y } = this.pointOf(thing);
      const far = Math.hypot(px - x, py - y);
      if (far <= Math.max(scene.radius[thing]! * this.scale, PICK) && far < least) [best, least] = [thing, far];
    }
    if (best >= 0) return { thing: best };
    least = PICK;
    for (let line = 0; line < scene.from.length; line++) {
      const far = this.distance(line, px, py);
      if (far < least) [best, least] = [line, far];
    }
    return best >= 0 ? { line: best } : undefined;
  }

  /** Draws what is pointed at more strongly. */
  point(hit: Hit): void {
    this.hit = hit;
    this.blit();
  }

  private fit(): void {
    const { scene } = this.drawn ?? {};
    if (!scene || !scene.things.length) return;
    let [west, east, north, south] = [Infinity, -Infinity, Infinity, -Infinity];
    for (const thing of scene.things) {
      const [x, y, radius] = [scene.x[thing]!, scene.y[thing]!, scene.radius[thing]!];
      [west, east] = [Math.min(west, x - radius), Math.max(east, x + radius)];
      [north, south] = [Math.min(north, y - radius), Math.max(south, y + radius)];
    }
    this.scale = Math.min((this.width - 2 * MARGIN) / (east - west), (this.height - 2 * MARGIN) / (south - north), 40);
    this.left = (this.width - (east + west) * this.scale) / 2;
    this.top = (this.height - (north + south) * this.scale) / 2;
  }

  private moved(): void {
    this.isWhole = false;
    this.blit();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.redraw(), SETTLED_MS);
  }

  /** Draws the bitmap anew. */
  private redraw(): void {
    if (!this.drawn || !this.theme || !this.canvas.width) return;
    const start = performance.now();
    clearTimeout(this.timer);
    const context = this.layer.getContext("2d")!;
    const ratio = this.canvas.width / this.width;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    this.drawLines(context, this.drawn, this.theme);
    this.drawThings(context, this.drawn, this.theme);
    this.canvas.dataset["named"] = this.drawNames(context, this.drawn, this.theme).join(", ");
    this.layerAt = { scale: this.scale, left: this.left, top: this.top };
    this.blit();
    this.took = performance.now() - start;
    this.canvas.dataset["took"] = this.took.toFixed(1);
  }

  /** Shows the bitmap where it belongs now, and what is pointed at. */
  private blit(): void {
    const ratio = this.canvas.width / Math.max(this.width, 1);
    const { context, layerAt } = this;
    const part = this.scale / layerAt.scale;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(part, 0, 0, part, ratio * (this.left - layerAt.left * part), ratio * (this.top - layerAt.top * part));
    context.drawImage(this.layer, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.hit && this.drawn && this.theme) this.drawHit(this.hit, this.drawn.scene, this.theme);
  }

  private drawLines(context: CanvasRenderingContext2D, { shades }: Drawn, theme: FabricTheme): void {
    const colours = palette(theme.ramp);
    // Lines of a shade one after the other, the highest last, so that they lie on top.
    const starts = new Uint32Array(SHADES + 2);
    for (const shade of shades) starts[(shade < SHADES ? shade + 1 : 0) + 1]!++;
    for (let at = 1; at < starts.length; at++) starts[at]! += starts[at - 1]!;
    const order = new Uint32Array(shades.length);
    const next = starts.slice();
    shades.forEach((shade, line) => (order[next[shade < SHADES ? shade + 1 : 0]!++] = line));
    const isMany = shades.length > 4000;
    for (let group = 0; group <= SHADES; group++) {
      if (starts[group] === starts[group + 1]) continue;
      const share = group / SHADES;
      context.beginPath();
      for (let at = starts[group]!; at < starts[group + 1]!; at++) this.path(context, order[at]!);
      context.strokeStyle = group ? colours[group - 1]! : theme.line;
      // Browsers draw lines of up to a pixel several times as fast as wider ones.
      context.lineWidth = isMany && share < WIDE ? 1 : 1 + 2 * share;
      context.stroke();
    }
  }

  private path(context: CanvasRenderingContext2D, line: number): void {
    const { scene } = this.drawn!;
    const [from, to] = [this.pointOf(scene.from[line]!), this.pointOf(scene.to[line]!)];
    context.moveTo(from.x, from.y);
    const place = scene.place[line]!;
    if (!place) return context.lineTo(to.x, to.y);
    const middle = bend(from, to, place);
    context.quadraticCurveTo(middle.x, middle.y, to.x, to.y);
  }

  /** Distance of a point from a line, in pixels. */
  private distance(line: number, px: number, py: number): number {
    const { scene } = this.drawn!;
    const [from, to] = [this.pointOf(scene.from[line]!), this.pointOf(scene.to[line]!)];
    const place = scene.place[line]!;
    if (!place) return toSegment(px, py, from, to);
    const middle = bend(from, to, place);
    let least = Infinity;
    let before = from;
    for (let step = 1; step <= 6; step++) {
      const u = step / 6;
      const point = {
        x: (1 - u) ** 2 * from.x + 2 * u * (1 - u) * middle.x + u * u * to.x,
        y: (1 - u) ** 2 * from.y + 2 * u * (1 - u) * middle.y + u * u * to.y,
      };
      least = Math.min(least, toSegment(px, py, before, point));
      before = point;
    }
    return least;
  }

  private drawThings(context: CanvasRenderingContext2D, { scene, kindOf, shapes, isEverywhere, marked, odd }: Drawn, theme: FabricTheme): void {
    const glyphs: { x: number; y: number; radius: number; thing: number }[] = [];
    const dots = { switch: new Path2D(), host: new Path2D(), other: new Path2D(), chassis: new Path2D() };
    const rings = [new Path2D(), new Path2D()];
    context.fillStyle = theme.soft;
    for (const thing of scene.things) {
      const { x, y } = this.pointOf(thing);
      const radius = scene.radius[thing]! * this.scale;
      const ring = odd.has(thing) ? rings[1] : marked.has(thing) ? rings[0] : undefined;
      const size = Math.max(radius, 1);
      if (ring) circle(ring, x, y, Math.max(size + 2, 3));
      if (shapes && (isEverywhere || radius >= LEAST_GLYPH)) {
        glyphs.push({ x, y, radius: Math.max(radius, 3), thing });
        continue;
      }
      const kind = kindOf(thing);
      // A square is drawn faster than a small disc, and looks the same.
      if (size < 2) context.fillRect(x - size, y - size, 2 * size, 2 * size);
      else circle(dots[kind], x, y, size * (kind === "chassis" ? 1 : 0.9));
    }
    context.lineWidth = 1;
    for (const [kind, colour] of [["chassis", theme.soft], ["switch", theme.soft], ["host", theme.soft], ["other", theme.line]] as const) {
      context.fillStyle = kind === "switch" || kind === "chassis" ? theme.paper : colour;
      context.fill(dots[kind]);
      context.strokeStyle = colour;
      context.stroke(dots[kind]);
    }
    if (shapes) drawGlyphs(context, glyphs, shapes, { paper: theme.paper, line: theme.soft, fill: theme.accent });
    context.lineWidth = 2;
    context.strokeStyle = theme.accent;
    context.stroke(rings[0]!);
    context.lineWidth = 3;
    context.strokeStyle = theme.warm;
    context.stroke(rings[1]!);
  }

  /** Writes names below devices where there is room, the ends of the highest lines first; returns those written. */
  private drawNames(context: CanvasRenderingContext2D, { scene, nameOf }: Drawn, theme: FabricTheme): string[] {
    const height = (line: number): number => (Number.isNaN(scene.value[line]!) ? -1 : scene.value[line]!);
    const lines = Array.from(scene.value.keys()).sort((one, other) => height(other) - height(one));
    const ends = (those: number[]): number[] => those.flatMap((line) => [scene.from[line]!, scene.to[line]!]);
    const order = new Set([...ends(lines), ...scene.things]);
    const highest = new Set(ends(lines.filter((line) => height(line) > 0)).slice(0, NAMED_ENDS));
    const taken: { x: number; y: number; half: number }[] = [];
    const written: string[] = [];
    context.font = `${NAME_HEIGHT}px ${getComputedStyle(this.canvas).fontFamily}`;
    [context.textAlign, context.textBaseline, context.lineJoin] = ["center", "top", "round"];
    for (const thing of order) {
      if (written.length === MOST_NAMES) break;
      const radius = scene.radius[thing]! * this.scale;
      if (radius < LEAST_GLYPH && !highest.has(thing)) continue;
      const point = this.pointOf(thing);
      const name = nameOf(thing);
      const text = name.length > NAME_SIGNS ? `${name.slice(0, NAME_SIGNS - 1)}…` : name;
      const [x, y, half] = [point.x, point.y + radius + 3, context.measureText(text).width / 2 + 2];
      if (x + half < 0 || x - half > this.width || y < 0 || y > this.height) continue;
      if (taken.some((other) => Math.abs(other.x - x) < other.half + half && Math.abs(other.y - y) < NAME_HEIGHT)) continue;
      taken.push({ x, y, half });
      written.push(name);
      [context.strokeStyle, context.lineWidth, context.fillStyle] = [theme.paper, 3, theme.ink];
      context.strokeText(text, x, y);
      context.fillText(text, x, y);
    }
    return written;
  }

  private drawHit(hit: NonNullable<Hit>, scene: Scene, theme: FabricTheme): void {
    const { context } = this;
    context.strokeStyle = theme.ink;
    context.lineWidth = 2;
    context.beginPath();
    if ("line" in hit) {
      if (hit.line >= scene.from.length) return;
      this.path(context, hit.line);
    } else {
      const { x, y } = this.pointOf(hit.thing);
      context.arc(x, y, Math.max(scene.radius[hit.thing]! * this.scale, 2) + 3, 0, 2 * Math.PI);
    }
    context.stroke();
  }
}

function circle(path: Path2D, x: number, y: number, radius: number): void {
  path.moveTo(x + radius, y);
  path.arc(x, y, radius, 0, 2 * Math.PI);
}

/** The control point of a curve: 1, -1, 2, -2, … lanes beside the straight line. */
function bend(from: { x: number; y: number }, to: { x: number; y: number }, place: number): { x: number; y: number } {
  const side = place % 2 ? (place + 1) / 2 : -place / 2;
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  // A curve goes half as far as its control point.
  const off = (2 * APART * side) / length;
  return { x: (from.x + to.x) / 2 - dy * off, y: (from.y + to.y) / 2 + dx * off };
}

function toSegment(px: number, py: number, from: { x: number; y: number }, to: { x: number; y: number }): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const along = Math.min(Math.max(((px - from.x) * dx + (py - from.y) * dy) / (dx * dx + dy * dy || 1), 0), 1);
  return Math.hypot(px - from.x - along * dx, py - from.y - along * dy);
}
