/** Classes of sizes can be distinguished by their colours, on light paper and on dark. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync("src/explorer.css", "utf8");
const ramps = Array.from(css.matchAll(/--sizes: ([^;]+);/g), ([, colours]) => colours.split(" "));
const PAPERS = ["#ffffff", "#1b1f23"];

const linear = (colour) =>
  [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));

/** OKLab (Ottosson 2020), in which equal distances look alike. */
function oklab(colour) {
  const [r, g, b] = linear(colour);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const apart = (a, b) => Math.hypot(...oklab(a).map((part, at) => part - oklab(b)[at]));

test("each two classes are well apart, and from the paper too", () => {
  assert.equal(ramps.length, 2);
  ramps.forEach((ramp, theme) => {
    assert.equal(ramp.length, 10);
    ramp.forEach((colour, at) => {
      assert.ok(apart(colour, PAPERS[theme]) > 0.2, `${colour} on ${PAPERS[theme]}`);
      for (const other of ramp.slice(0, at)) assert.ok(apart(colour, other) > [0.075, 0.12][theme], `${colour} and ${other}`);
    });
  });
});

test("the larger, the further from the dark", () => {
  for (const ramp of ramps) assert.deepEqual(ramp, ramp.toSorted((a, b) => oklab(a)[0] - oklab(b)[0]));
});
