/** What is drawn and found, held against looking at every row. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Lanes } from "../src/lanes.ts";
import { HIDDEN, operationPalette } from "../src/palette.ts";
import { Raster } from "../src/raster.ts";

const RUNS = 200;
const SPAN = 40;
const THEME = { paper: "#fff", ops: { read: "#0072b2", write: "#d55e00" }, faded: "#8a8f98" };

/** Numbers that are the same in every run (mulberry32). */
function chance(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function someRows(seed) {
  const next = chance(seed);
  const count = Math.floor(next() * 300);
  const one = (most) => Math.floor(next() * most);
  const begins = Float64Array.from({ length: count }, () => one(4 * SPAN) / 4);
  const ends = begins.map((begin) => begin + (one(20) === 0 ? one(SPAN) : one(8) / 4));
  return {
    next,
    begins,
    ends,
    facetOf: Uint8Array.from({ length: count }, () => one(3)),
    laneOf: Int32Array.from({ length: count }, () => one(6)),
    colourOf: Uint8Array.from({ length: count }, () => [0, 1, 2, HIDDEN][one(4)]),
    shareOf: Float32Array.from({ length: count }, () => (1 + one(4)) / 4),
  };
}

const touches = ({ begins, ends }, row, from, to) => begins[row] <= to && ends[row] >= from;
const overlap = (begin, end, from, to) => Math.max(Math.min(end, to) - Math.max(begin, from), 0);

test("a window holds every row that touches it", () => {
  for (let seed = 0; seed < RUNS; seed++) {
    const rows = someRows(seed);
    const lanes = new Lanes(2, rows.facetOf, rows.laneOf, rows.begins, rows.ends);
    const from = rows.next() * SPAN;
    const to = from + rows.next() * 5;
    const found = [];
    lanes.facets.forEach(({ firsts }) => {
      for (let lane = 0; lane + 1 < firsts.length; lane++) {
        const [first, last] = lanes.window(firsts[lane], firsts[lane + 1], from, to);
        for (let place = first; place < last; place++) if (lanes.ends[place] >= from) found.push(lanes.rows[place]);
      }
    });
    const expected = [...rows.begins.keys()].filter((row) => rows.facetOf[row] < 2 && touches(rows, row, from, to));
    assert.deepEqual(
      found.sort((a, b) => a - b),
      expected,
    );
  }
});

test("the row nearest to the pointer is found, and of those that hold it the shortest", () => {
  for (let seed = 0; seed < RUNS; seed++) {
    const rows = someRows(seed);
    const lanes = new Lanes(3, rows.facetOf, rows.laneOf, rows.begins, rows.ends);
    const x = rows.next() * SPAN;
    const slack = rows.next();
    lanes.facets.forEach(({ firsts, values }, facet) => {
      for (let lane = 0; lane < values.length; lane++) {
        const isShown = (place) => rows.colourOf[lanes.rows[place]] !== HIDDEN;
        const place = lanes.nearest(firsts[lane], firsts[lane + 1], x, slack, isShown);
        const ranked = [...rows.begins.keys()]
          .filter((row) => rows.facetOf[row] === facet && rows.laneOf[row] === values[lane] && rows.colourOf[row] !== HIDDEN)
          .map((row) => [Math.max(rows.begins[row] - x, x - rows.ends[row], 0), rows.ends[row] - rows.begins[row]])
          .filter(([distance]) => distance <= slack)
          .sort(([a, c], [b, d]) => a - b || c - d);
        assert.equal(place >= 0, ranked.length > 0);
        if (place < 0) continue;
        const row = lanes.rows[place];
        assert.deepEqual([Math.max(rows.begins[row] - x, x - rows.ends[row], 0), rows.ends[row] - rows.begins[row]], ranked[0]);
      }
    });
  }
});

test("a pixel has the colour that fills most of it, the shade of how much, and none if nothing touches it", () => {
  const palette = operationPalette(["read", "write"], THEME);
  for (let seed = 0; seed < RUNS; seed++) {
    const rows = someRows(seed);
    const lanes = new Lanes(1, rows.facetOf, rows.laneOf, rows.begins, rows.ends);
    const width = 1 + Math.floor(rows.next() * 50);
    const domain = { from: 3.3, to: 3.3 + 1 + rows.next() * SPAN, top: 1, bottom: 5 };
    const lines = [1, 2, 4][Math.floor(rows.next() * 3)];
    const place = (values, kind) => kind.from(lanes.rows, (row) => values[row]);
    const scene = { lanes, facet: 0, positions: lanes.facets[0].values, colours: place(rows.colourOf, Uint8Array) };
    const raster = new Raster(width, lines);
    const shares = place(rows.shareOf, Float32Array);
    // Twice, for the first must leave nothing behind.
    raster.paint({ ...scene, shares, palette }, { ...domain, top: 0 });
    const pixels = raster.paint({ ...scene, shares, palette }, domain);
    for (let line = 0; line < lines; line++) {
      for (let x = 0; x < width; x++) checkPixel(pixels[line * width + x], rows, palette, domain, { x, line, width, lines });
    }
  }
});

function checkPixel(pixel, rows, palette, domain, { x, line, width, lines }) {
  const step = (domain.to - domain.from) / width;
  const [from, to] = [domain.from + x * step, domain.from + (x + 1) * step];
  const perLine = (domain.bottom - domain.top) / lines;
  const inLine = (row) => Math.floor((rows.laneOf[row] - domain.top) / perLine) === line;
  const filled = palette.colours.map((_, colour) => {
    const own = [...rows.begins.keys()].filter((row) => rows.facetOf[row] === 0 && inLine(row) && rows.colourOf[row] === colour);
    const touching = own.filter((row) => touches(rows, row, from, to));
    // Rows that only touch the pixel's edge may count or not, as rounding has it.
    const isClear = own.every((row) => Math.abs(rows.begins[row] - to) > 1e-9 && Math.abs(rows.ends[row] - from) > 1e-9);
    const share = touching.reduce((sum, row) => sum + rows.shareOf[row] * overlap(rows.begins[row], rows.ends[row], from, to), 0);
    return { colour, isTouched: touching.length > 0, isClear, part: Math.min(share / step / perLine, 1) };
  });
  if (!filled.every(({ isClear }) => isClear)) return;
  const touched = filled.filter(({ isTouched }) => isTouched);
  if (touched.length === 0) return assert.equal(pixel, 0);
  const front = touched.filter(({ colour }) => !palette.colours[colour].isBackground);
  const candidates = front.length ? front : touched;
  const most = Math.max(...candidates.map(({ part }) => part));
  const allowed = candidates
    .filter(({ part }) => most - part < 1e-5)
    .flatMap(({ colour, part }) => [-1, 0, 1].map((by) => palette.colours[colour].shades[Math.round(part * 63) + by]));
  assert.ok(allowed.includes(pixel), `pixel ${x} of line ${line}: ${pixel.toString(16)}`);
}
