/** Draws a view on one canvas: facets above each other on shared axes. A saved picture has words and the legend above them. */

import { type LaneAxis, type XAxis, xTicks } from "./axes";
import type { Lanes } from "./lanes";
import { HIDDEN, type Palette } from "./palette";
import { type Domain, Raster } from "./raster";
import type { Theme } from "./theme";

const LEFT = 76;
const RIGHT = 16;
const TITLE = 24;
const BOTTOM = 44;
const LINE = 20;
const MARGIN = 10;
const SAVED_SCALE = 2;
/** Lines of a saved picture's words. */
const MOST_LINES = 8;
const LANE = 22;
const MIN_FACET = 66;
const FONT = "12px system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
/** Pixels by which the pointer may miss a row. */
const SLACK = 3;

/** What a picture is drawn from. */
export interface Drawing {
  lanes: Lanes;
  facets: string[];
  axis: LaneAxis;
  x: XAxis;
  palette: Palette;
  theme: Theme;
  /** Colour and share of each place of the lanes. */
  colours: Uint8Array;
  shares: Float32Array;
}

/** Frame of a drag, in pixels of the canvas. */
export interface Brush {
  left: number;
  right: number;
  upper: number;
  lower: number;
}

/** A row in a facet of the picture: `place` is its index in the order of `Lanes`. */
export interface Place {
  facet: number;
  place: number;
}

export class Picture {
  private drawing: Drawing | undefined;
  private domain: Domain = { from: 0, to: 1, top: 0, bottom: 1 };
  private positions: Int32Array[] = [];
  private rasters: Raster[] = [];
  private readonly strip = document.createElement("canvas");
  private width = 0;
  private facetHeight = 0;

  constructor(readonly canvas: HTMLCanvasElement) {}

  /** Width of the plot in pixels. */
  get plotWidth(): number {
    return Math.max(this.width - LEFT - RIGHT, 1);
  }

  /** Shows another drawing. */
  show(drawing: Drawing, domain: Domain): void {
    this.drawing = drawing;
    this.domain = domain;
    this.positions = drawing.lanes.facets.map(({ values }) => drawing.axis.positions(values));
    this.layOut();
    this.draw();
  }

  /** Shows another domain of the same drawing. */
  move(domain: Domain): void {
    this.domain = domain;
    this.draw();
  }

  /** Adapts to the width of the page; false if it has not changed. */
  resize(): boolean {
    if (!this.drawing || this.widthOfPage() === this.width) return false;
    this.layOut();
    this.draw();
    return true;
  }

  private widthOfPage(): number {
    return Math.max(Math.floor(this.canvas.parentElement!.clientWidth), 320);
  }

  private layOut(): void {
    const { drawing } = this;
    if (!drawing) return;
    this.width = this.widthOfPage();
    const maxHeight = drawing.facets.length > 1 ? 250 : 420;
    this.facetHeight = Math.min(Math.max(drawing.axis.count * LANE, MIN_FACET), maxHeight);
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${this.height}px`;
    contextOf(this.canvas).scale(ratio, ratio);
    this.rasters = [];
  }

  private get height(): number {
    return this.top(this.drawing?.facets.length ?? 1) - TITLE + BOTTOM;
  }

  /** The data at a point of the canvas: x, position on the lane axis, and facet. Points outside the frame count as on its edge. */
  locate(px: number, py: number): { x: number; position: number; facet: number } {
    const { domain } = this;
    const count = this.drawing?.facets.length ?? 1;
    const step = this.facetHeight + TITLE;
    const facet = Math.min(Math.max(Math.floor((py - this.top(0) + TITLE) / step), 0), count - 1);
    const part = Math.min(Math.max((py - this.top(facet)) / this.facetHeight, 0), 1);
    return {
      x: domain.from + (Math.min(Math.max(px - LEFT, 0), this.plotWidth) / this.plotWidth) * (domain.to - domain.from),
      position: Math.min(domain.top + part * (domain.bottom - domain.top), domain.bottom - 1e-6),
      facet,
    };
  }

  /** Where a point lies along x: 0 on the left edge of the frame, 1 on the right. */
  part(px: number): number {
    return (px - LEFT) / this.plotWidth;
  }

  /** The row at a point of the canvas, if there is one. */
  pick(px: number, py: number): Place | undefined {
    const { drawing, domain } = this;
    if (!drawing || px < LEFT - SLACK || px > LEFT + this.plotWidth + SLACK) return undefined;
    const { x, position, facet } = this.locate(px, py);
    const lanesPerPixel = (domain.bottom - domain.top) / this.facetHeight;
    const top = Math.floor(position - Math.max(lanesPerPixel - 1, 0) / 2);
    const bottom = Math.max(Math.floor(position + Math.max(lanesPerPixel - 1, 0) / 2), top);
    const slack = (SLACK * (domain.to - domain.from)) / this.plotWidth;
    const { firsts } = drawing.lanes.facets[facet]!;
    const isShown = (place: number): boolean => drawing.colours[place] !== HIDDEN;
    for (let lane = 0; lane + 1 < firsts.length; lane++) {
      const at = this.positions[facet]![lane]!;
      if (at < top || at > bottom) continue;
      const place = drawing.lanes.nearest(firsts[lane]!, firsts[lane + 1]!, x, slack, isShown);
      if (place >= 0) return { facet, place };
    }
    return undefined;
  }

  /** Calls back for each place in sight. */
  each(found: (place: number, facet: number) => void): void {
    const { drawing, domain } = this;
    if (!drawing) return;
    drawing.lanes.facets.forEach(({ firsts }, facet) => {
      for (let lane = 0; lane + 1 < firsts.length; lane++) {
        const at = this.positions[facet]![lane]!;
        if (at < domain.top || at >= domain.bottom) continue;
        const [first, last] = drawing.lanes.window(firsts[lane]!, firsts[lane + 1]!, domain.from, domain.to);
        for (let place = first; place < last; place++) {
          if (drawing.lanes.ends[place]! >= domain.from && drawing.colours[place] !== HIDDEN) found(place, facet);
        }
      }
    });
  }

  /** Draws the picture, and the frame of a drag. */
  draw(brush?: Brush): void {
    const { drawing } = this;
    if (!drawing) return;
    const context = contextOf(this.canvas);
    this.paint(context, drawing, window.devicePixelRatio || 1);
    if (brush) {
      context.fillStyle = `${drawing.theme.ink}20`;
      context.fillRect(brush.left, brush.upper, brush.right - brush.left, brush.lower - brush.upper);
      context.strokeStyle = drawing.theme.ink;
      context.strokeRect(brush.left + 0.5, brush.upper + 0.5, brush.right - brush.left - 1, brush.lower - brush.upper - 1);
    }
  }

  /**
   * The picture on a canvas of its own, twice as fine, with words and the legend above it.
   *
   * @param words each from a new line on; the first is the title
   * @param legend entries with their colours
   */
  saved(words: string[], legend: { name: string; css: string }[]): HTMLCanvasElement | undefined {
    const { drawing } = this;
    if (!drawing) return undefined;
    const measure = contextOf(this.canvas);
    const lines = words.flatMap((text) => wrapped(measure, text, this.width - 2 * MARGIN)).slice(0, MOST_LINES);
    const title = lines.length ? wrapped(measure, words[0]!, this.width - 2 * MARGIN).length : 0;
    const above = MARGIN + (lines.length + this.legend(measure, drawing.theme, legend)) * LINE;
    const canvas = document.createElement("canvas");
    canvas.width = SAVED_SCALE * this.width;
    canvas.height = SAVED_SCALE * (above + this.height);
    const context = contextOf(canvas);
    context.scale(SAVED_SCALE, SAVED_SCALE);
    context.fillStyle = drawing.theme.paper;
    context.fillRect(0, 0, this.width, above);
    lines.forEach((text, line) => {
      context.fillStyle = line < title ? drawing.theme.ink : drawing.theme.soft;
      context.font = line < title ? `600 ${FONT}` : FONT;
      context.fillText(text, MARGIN, MARGIN + line * LINE + LINE / 2);
    });
    context.font = FONT;
    this.legend(context, drawing.theme, legend, MARGIN + lines.length * LINE);
    context.translate(0, above);
    this.paint(context, drawing, SAVED_SCALE);
    return canvas;
  }

  private paint(context: CanvasRenderingContext2D, drawing: Drawing, ratio: number): void {
    context.fillStyle = drawing.theme.paper;
    context.fillRect(0, 0, this.width, this.height);
    const ticks = xTicks(drawing.x, this.domain.from, this.domain.to, Math.floor(this.plotWidth / 110));
    drawing.facets.forEach((title, facet) => this.drawFacet(context, drawing, title, facet, ticks.map(({ at }) => at), ratio));
    this.drawXAxis(context, drawing, ticks);
  }

  /** Upper edge of a facet's frame. */
  top(facet: number): number {
    return 2 + TITLE + facet * (this.facetHeight + TITLE);
  }

  /** Lower edge of a facet's frame. */
  lower(facet: number): number {
    return this.top(facet) + this.facetHeight;
  }

  /** The middle of a row on the canvas, in pixels. */
  pointOf({ facet, place }: Place): { x: number; y: number } {
    const { drawing, domain } = this;
    const { firsts } = drawing!.lanes.facets[facet]!;
    let lane = 0;
    while (firsts[lane + 1]! <= place) lane++;
    const middle = (drawing!.lanes.begins[place]! + drawing!.lanes.ends[place]!) / 2;
    const x = ((middle - domain.from) / (domain.to - domain.from)) * this.plotWidth;
    const y = ((this.positions[facet]![lane]! + 0.5 - domain.top) / (domain.bottom - domain.top)) * this.facetHeight;
    return { x: LEFT + Math.min(Math.max(x, 0), this.plotWidth), y: this.top(facet) + y };
  }

  private drawFacet(context: CanvasRenderingContext2D, drawing: Drawing, title: string, facet: number, xs: number[], ratio: number): void {
    const { domain, facetHeight: height, plotWidth: width } = this;
    const top = this.top(facet);
    context.textAlign = "left";
    context.fillStyle = drawing.theme.ink;
    context.font = `600 ${FONT}`;
    context.fillText(title, LEFT, top - TITLE / 2 + 1);
    context.font = FONT;
    const left = Math.max((drawing.x.end - domain.from) / (domain.to - domain.from), 0) * width;
    context.fillStyle = drawing.theme.faint;
    if (left < width) context.fillRect(LEFT + left, top, width - left, height);
    context.strokeStyle = drawing.theme.faint;
    context.beginPath();
    for (const at of xs) {
      const x = Math.round(LEFT + ((at - domain.from) / (domain.to - domain.from)) * width) + 0.5;
      context.moveTo(x, top);
      context.lineTo(x, top + height);
    }
    context.stroke();
    this.drawRows(context, drawing, facet, ratio);
    this.drawLaneAxis(context, drawing, top);
    context.strokeStyle = drawing.theme.line;
    context.strokeRect(LEFT - 0.5, top - 0.5, width + 1, height + 1);
  }

  private drawRows(context: CanvasRenderingContext2D, drawing: Drawing, facet: number, ratio: number): void {
    const { domain, facetHeight: height, plotWidth } = this;
    const top = this.top(facet);
    const width = Math.round(plotWidth * ratio);
    const lines = Math.max(Math.min(domain.bottom - domain.top, Math.round(height * ratio)), 1);
    let raster = this.rasters[facet];
    if (!raster || raster.width !== width || raster.lines !== lines) raster = this.rasters[facet] = new Raster(width, lines);
    const pixels = raster.paint({ ...drawing, facet, positions: this.positions[facet]! }, domain);
    this.strip.width = width;
    this.strip.height = lines;
    const image = new ImageData(new Uint8ClampedArray(pixels.buffer), width, lines);
    this.strip.getContext("2d")!.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.strip, LEFT, top, plotWidth, height);
    const laneHeight = height / (domain.bottom - domain.top);
    if (laneHeight < 5) return;
    // Lanes that are thick enough are separated by lines.
    context.fillStyle = drawing.theme.paper;
    for (let lane = 1; lane < lines; lane++) context.fillRect(LEFT, Math.round(top + lane * laneHeight) - 0.5, plotWidth, 1);
  }

  private drawLaneAxis(context: CanvasRenderingContext2D, { axis, theme }: Drawing, top: number): void {
    const { domain, facetHeight: height } = this;
    context.textAlign = "right";
    context.fillStyle = theme.soft;
    const laneHeight = height / (domain.bottom - domain.top);
    for (const position of axis.ticks(domain.top, domain.bottom, Math.floor(height / 16))) {
      const y = top + (position + 0.5 - domain.top) * laneHeight;
      context.fillText(fitted(context, axis.label(position), LEFT - 26), LEFT - 6, Math.max(y, top + 6));
    }
    context.save();
    context.translate(12, top + height / 2);
    context.rotate(-Math.PI / 2);
    context.textAlign = "center";
    context.fillText(axis.name, 0, 0);
    context.restore();
  }

  private drawXAxis(context: CanvasRenderingContext2D, drawing: Drawing, ticks: { at: number; label: string }[]): void {
    const { domain, plotWidth: width } = this;
    const bottom = this.lower(drawing.facets.length - 1);
    context.fillStyle = drawing.theme.soft;
    for (const { at, label } of ticks) {
      const x = LEFT + ((at - domain.from) / (domain.to - domain.from)) * width;
      const half = context.measureText(label).width / 2;
      context.textAlign = "center";
      context.fillText(label, Math.min(Math.max(x, LEFT + half - 20), LEFT + width - half + RIGHT - 2), bottom + 14);
    }
    context.textAlign = "center";
    context.fillText(drawing.x.title, LEFT + width / 2, bottom + 33);
  }

  /** Lays out the legend, and draws it from `top` on if that is given; returns its number of lines. */
  private legend(context: CanvasRenderingContext2D, theme: Theme, entries: { name: string; css: string }[], top?: number): number {
    let x = MARGIN;
    let line = 0;
    for (const { name, css } of entries) {
      const width = context.measureText(name).width + 34;
      if (x > MARGIN && x + width > this.width) {
        line++;
        x = MARGIN;
      }
      if (top !== undefined) {
        const y = top + line * LINE + LINE / 2;
        context.fillStyle = css;
        context.fillRect(x, y - 6, 12, 12);
        context.fillStyle = theme.ink;
        context.fillText(name, x + 18, y);
      }
      x += width;
    }
    return entries.length ? line + 1 : 0;
  }
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext("2d")!;
  context.font = FONT;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.lineWidth = 1;
  return context;
}

/** A text in lines that fit a width in pixels; a word that does not fit is cut. */
function wrapped(context: CanvasRenderingContext2D, text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (line && context.measureText(longer).width > width) {
      lines.push(line);
      line = fitted(context, word, width);
    } else line = line ? longer : fitted(context, word, width);
  }
  return [...lines, line];
}

/** A text, cut on the left to fit a width in pixels. */
function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && context.measureText(`…${text.slice(-length)}`).width > width) length--;
  return `…${text.slice(-length)}`;
}
