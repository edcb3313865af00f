/** Phases and the lanes that they are drawn in. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { phases } from "../src/views.ts";

const phase = (layer, start_seconds, end_seconds, read_bytes, write_bytes) => ({ layer, start_seconds, end_seconds, read_bytes, write_bytes });

const ABOUT = {
  run_seconds: 10,
  tick_seconds: 1e-6,
  ops: ["read", "write"],
  phases: [
    phase("all", 0, 4, 0, 100),
    phase("all", 1, 9, 200, 0),
    phase("all", 5, 6, 0, 100),
    phase("posix", 0, 4, 0, 100),
    phase("posix", 0, 4, 100, 0),
    phase("posix", 5, 6, null, 100),
  ],
};

/** Facet, label of the lane, and index of each phase. */
function drawn(about) {
  const { lanes, axis, facets } = phases(about);
  return lanes.facets.flatMap(({ values, firsts }, facet) =>
    axis.positions(values).reduce((found, position, lane) => {
      for (let place = firsts[lane]; place < firsts[lane + 1]; place++) found.push([facets[facet], axis.label(position), lanes.rows[place]]);
      return found;
    }, []),
  );
}

test("phases that overlap are in lanes of their own, one for each layer and direction", () => {
  assert.deepEqual(drawn(ABOUT), [
    ["all layers", "read", 1],
    ["all layers", "write", 0],
    ["all layers", "write", 2],
    ["POSIX", "read", 4],
    ["POSIX", "write", 3],
    ["POSIX", "write", 5],
  ]);
});

test("the pointer is on the phase of the lane, not on one that overlaps it", () => {
  const { lanes } = phases(ABOUT);
  const found = lanes.facets.map(({ firsts }) => [0, 1].map((lane) => lanes.rows[lanes.nearest(firsts[lane], firsts[lane + 1], 2, 0, () => true)]));
  assert.deepEqual(found, [
    [1, 0],
    [4, 3],
  ]);
});
