/** Colours that mean something can be distinguished, on light paper and on dark, also by readers who do not see all colours. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const css = readFileSync("src/explorer.css", "utf8");
const ramps = Array.from(css.matchAll(/--sizes: ([^;]+);/g), ([, colours]) => colours.split(" "));
const PAPERS = ["#ffffff", "#1b1f23"];

// Colours that stand beside each other in one picture, by their names in the style sheet of reports.
const sheet = readFileSync("../iomine/report/templates/report.css", "utf8");
const filled = (bar) => Array.from(sheet.matchAll(new RegExp(`${bar} \\.\\w+ { fill: var\\(--([\\w-]+)\\)`, "g")), ([, name]) => name);
const PICTURES = {
  "where two runs' time went": [...filled("\\.bar\\.pair"), "soft"],
  "parts of a phase class": ["write-1", "write-2", "read-0", "soft", "line"],
  "reads, writes and metadata calls": ["accent", "warm", "soft"],
  "nights, and what was lost": ["read-1", "hot"],
};
const themes = Array.from(sheet.matchAll(/:root \{([^}]*--paper[^}]*)\}/g), ([, text]) => Object.fromEntries(Array.from(text.matchAll(/--([\w-]+): (#\w+)/g), ([, name, colour]) => [name, colour.length === 4 ? colour.replace(/\w/g, "$&$&") : colour])));
// What those see who lack a kind of cones, in linear RGB (Machado, Oliveira and Fernandes 2009, severity 1).
const SIGHTS = {
  "all colours": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
// On a grey print; only where a picture has two.
const GREY = Array(3).fill([0.2126, 0.7152, 0.0722]);

const linear = (colour) =>
  [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));

/** OKLab (Ottosson 2020), in which equal distances look alike. */
function oklab(colour, sight = SIGHTS["all colours"]) {
  const seen = linear(colour);
  const [r, g, b] = sight.map((row) => Math.max(0, row.reduce((sum, part, at) => sum + part * seen[at], 0)));
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

const apart = (a, b, sight) => Math.hypot(...oklab(a, sight).map((part, at) => part - oklab(b, sight)[at]));

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

test("colours of one picture are apart for readers with any colour vision, where two are on a grey print too", () => {
  // Of the page on a screen, light and dark, and of its print.
  assert.equal(themes.length, 3);
  assert.equal(PICTURES["where two runs' time went"].length, 6);
  for (const theme of themes) {
    for (const [picture, names] of Object.entries(PICTURES)) {
      const sights = names.length === 2 ? { ...SIGHTS, grey: GREY } : SIGHTS;
      for (const [sight, matrix] of Object.entries(sights)) {
        names.forEach((name, at) => {
          for (const other of names.slice(0, at)) {
            const far = apart(theme[name], theme[other], matrix);
            assert.ok(far > 0.04, `${name} and ${other} in ${picture}, ${sight}: ${far.toFixed(3)} on ${theme.paper}`);
          }
        });
      }
    }
  }
});
