/**
 * Draws intervals as pixels, shaded by how much of a pixel's time is busy.
 *
 * An interval changes four differences between neighbouring pixels, however long it is; one pass over the pixels sums the
 * differences. A pixel shows the colour that fills most of it. A pixel that an interval touches is never blank.
 */

import type { Lanes } from "./lanes";
import { type Palette, SHADES } from "./palette";

export interface Scene {
  lanes: Lanes;
  facet: number;
  /** Position on the axis of each lane of the facet, -1 where it is not shown. */
  positions: Int32Array;
  /** Colour of each place of the lanes, `HIDDEN` where it is not shown. */
  colours: Uint8Array;
  /** Busy share of each place's interval, 0 to 1. */
  shares: Float32Array;
  palette: Palette;
}

export interface Domain {
  from: number;
  to: number;
  /** Positions on the lane axis, end-exclusive. */
  top: number;
  bottom: number;
}

export class Raster {
  readonly pixels: Uint32Array<ArrayBuffer>;
  private readonly stride: number;
  private readonly touches: Int32Array;
  private readonly cover: Float32Array;
  private readonly best: Float32Array;
  private readonly isUsed: Uint8Array;

  constructor(
    readonly width: number,
    readonly lines: number,
  ) {
    // An interval that ends on the right edge changes the difference one pixel beyond it.
    this.stride = width + 2;
    this.pixels = new Uint32Array(width * lines);
    this.touches = new Int32Array(this.stride * lines);
    this.cover = new Float32Array(this.stride * lines);
    this.best = new Float32Array(width * lines);
    this.isUsed = new Uint8Array(lines);
  }

  /** Pixels of a scene, line by line; those that no request touches are transparent. */
  paint(scene: Scene, domain: Domain): Uint32Array<ArrayBuffer> {
    this.pixels.fill(0);
    this.best.fill(0);
    const lanesPerLine = Math.max((domain.bottom - domain.top) / this.lines, 1);
    scene.palette.colours.forEach(({ shades, isBackground }, colour) => {
      if (scene.colours.includes(colour) && this.add(scene, domain, colour)) this.merge(shades, isBackground, 1 / lanesPerLine);
    });
    return this.pixels;
  }

  /** Adds the intervals of one colour; false if there are none. */
  private add(scene: Scene, domain: Domain, colour: number): boolean {
    const { lanes, positions, colours, shares } = scene;
    const { values, firsts } = lanes.facets[scene.facet]!;
    const scale = this.width / (domain.to - domain.from);
    const linesPerLane = this.lines / (domain.bottom - domain.top);
    const { begins, ends } = lanes;
    const { touches, cover, width } = this;
    let isAny = false;
    for (let lane = 0; lane < values.length; lane++) {
      const position = positions[lane]!;
      if (position < domain.top || position >= domain.bottom) continue;
      const line = Math.floor((position - domain.top) * linesPerLane + 1e-9);
      const first = line * this.stride;
      const [start, stop] = lanes.window(firsts[lane]!, firsts[lane + 1]!, domain.from, domain.to);
      for (let place = start; place < stop; place++) {
        if (colours[place] !== colour) continue;
        const begin = Math.max((begins[place]! - domain.from) * scale, 0);
        const end = Math.min((ends[place]! - domain.from) * scale, width);
        if (end < 0 || begin >= width) continue;
        const share = shares[place]!;
        const left = Math.floor(begin);
        const right = Math.floor(end);
        touches[first + left]!++;
        touches[first + right + 1]!--;
        cover[first + left]! += share * (1 - (begin - left));
        cover[first + left + 1]! += share * (begin - left);
        cover[first + right]! -= share * (1 - (end - right));
        cover[first + right + 1]! -= share * (end - right);
        this.isUsed[line] = 1;
        isAny = true;
      }
    }
    return isAny;
  }

  /** Sums the differences of one colour, paints it where it fills more than earlier colours, and clears the differences. */
  private merge(shades: Uint32Array, isBackground: boolean, weight: number): void {
    const { pixels, best, touches, cover, stride, width } = this;
    for (let line = 0; line < this.lines; line++) {
      if (!this.isUsed[line]) continue;
      const first = line * stride;
      let touching = 0;
      let covered = 0;
      for (let x = 0, pixel = line * width; x < width; x++, pixel++) {
        touching += touches[first + x]!;
        covered += cover[first + x]!;
        if (touching === 0) continue;
        const filled = Math.min(Math.max(covered * weight, 1e-6), 1);
        if (isBackground ? best[pixel] !== 0 : filled <= best[pixel]!) continue;
        best[pixel] = filled;
        pixels[pixel] = shades[Math.round(filled * (SHADES - 1))]!;
      }
      touches.fill(0, first, first + stride);
      cover.fill(0, first, first + stride);
      this.isUsed[line] = 0;
    }
  }
}
