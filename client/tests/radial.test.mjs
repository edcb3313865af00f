/** Edges of circles in any window of time, against what looking at every cell gives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RadialData, Ring } from "../src/radialdata.ts";
import { valueTicks, windowText, worded } from "../src/radialscale.ts";

const BINS = 8;
const METRICS = [
  { name: "latency", title: "Latency", unit: "seconds", least: 1e-6, most: 1e3, bins: 24 },
  { name: "size", title: "Size", unit: "bytes", least: 1, most: 2 ** 34, bins: 24 },
];
const circle = (one, count) => ({
  ...{ one, many: `${one}s`, labels: Array.from({ length: count }, (_, at) => `${one} ${at}`), hosts: [], positions: [] },
  ...{ firstRanks: [], lastRanks: [], osts: [], links: [] },
});

/** Cells of 5 ranks, 3 carriers and 2 OSTs, as a page has them: sorted, with means of sizes that follow from the bytes. */
function made() {
  let seed = 7;
  const dice = (most) => (seed = (seed * 16807) % 2147483647) % most;
  const cells = [];
  for (const [ring, fromCount, toCount] of [[0, 5, 3], [1, 3, 2]]) {
    for (const op of [0, 1]) {
      for (const metric of [0, 1]) {
        for (let from = 0; from < fromCount; from++) {
          for (let to = 0; to < toCount; to++) {
            for (let time = 0; time < BINS; time++) {
              if (dice(3)) cells.push({ ring, op, metric, from, to, time, value: 6 + dice(5), count: 1 + dice(9), bytes: 1000 * (1 + dice(9)) });
            }
          }
        }
      }
    }
  }
  const numbers = Float64Array.of(-1, 1e-3, 2e-3, 4e-3, 9e-3);
  const column = (name, kind) => kind.from(cells, (cell) => cell[name]);
  const whole = Object.fromEntries(["ring", "op", "metric", "from", "to", "time", "value", "count"].map((name) => [name, column(name, Uint8Array)]));
  // Of latencies the third number is the mean, one below it the least and two above it the most; of sizes all are the mean.
  const coded = (of) => Uint8Array.from(cells, ({ metric }) => (metric ? 0 : of));
  const arrays = { ...whole, bytes: column("bytes", Float64Array), numbers, mean: coded(2), least: coded(1), most: coded(2) };
  const about = {
    ...{ title: "made", circles: [circle("rank", 5), circle("carrier", 3), circle("OST", 2)], metrics: METRICS, ops: ["read", "write"] },
    ...{ counts: "request", time: { bins: BINS, begin: 2, width: 0.5, kind: "run" }, missing: [] },
  };
  return { cells, data: RadialData.of({ about, arrays }) };
}

test("counts and sums of any window are those of its cells", () => {
  const { cells, data } = made();
  for (const number of [0, 1]) {
    for (const metric of [0, 1]) {
      const ring = new Ring(data, number, 1, metric);
      for (let from = 0; from < BINS; from++) {
        for (let to = from + 1; to <= BINS; to++) {
          const window = { from, to };
          const counts = ring.counts(window);
          const sums = ring.byEdge(window);
          for (let edge = 0; edge < ring.edgeCount; edge++) {
            const own = cells.filter(
              (cell) =>
                cell.ring === number && cell.op === 1 && cell.metric === metric && cell.from === ring.from[edge] && cell.to === ring.to[edge] && cell.time >= from && cell.time < to,
            );
            const total = (name) => own.reduce((sum, cell) => sum + cell[name], 0);
            assert.equal(sums.count[edge], total("count"));
            assert.equal(sums.bytes[edge], total("bytes"));
            if (metric && own.length) {
              assert.ok(Math.abs(sums.sum[edge] - total("bytes")) < 1e-6);
              assert.equal(sums.most[edge], Math.max(...own.map(({ bytes, count }) => bytes / count)));
            } else if (own.length) assert.deepEqual([sums.least[edge], sums.most[edge]], [1e-3, 9e-3]);
            for (let bin = 0; bin < ring.bins; bin++) {
              const ofBin = own.filter(({ value }) => value === bin + ring.firstBin).reduce((sum, { count }) => sum + count, 0);
              assert.equal(counts[edge * ring.bins + bin], ofBin);
            }
          }
        }
      }
    }
  }
});

test("sums by time are those of the edges that are asked for", () => {
  const { cells, data } = made();
  const ring = new Ring(data, 0, 0, 0);
  const isWanted = (edge) => ring.from[edge] === 3;
  const { count, most } = ring.byTime(isWanted);
  for (let time = 0; time < BINS; time++) {
    const own = cells.filter((cell) => !cell.ring && !cell.op && !cell.metric && cell.from === 3 && cell.time === time);
    assert.equal(count[time], own.reduce((sum, cell) => sum + cell.count, 0));
    assert.equal(most[time], own.length ? 9e-3 : 0);
  }
});

test("a median lies in the bin that holds the middle request", () => {
  const { data } = made();
  const ring = new Ring(data, 0, 1, 0);
  const sight = { edges: [0], count: 10, byBin: Float64Array.from({ length: ring.bins }, (_, bin) => [2, 6, 2][bin] ?? 0) };
  const median = data.median(0, ring, sight);
  const [low, high] = [data.lowerEnd(0, ring.firstBin + 1), data.lowerEnd(0, ring.firstBin + 2)];
  assert.ok(Math.abs(median - Math.sqrt(low * high)) < 1e-9 * median);
  assert.ok(Number.isNaN(data.median(0, ring, { ...sight, count: 0 })));
});

test("ends of bins and windows are said in round words", () => {
  const { data } = made();
  assert.equal(worded(METRICS[0], data.lowerEnd(0, 8)), "1 ms");
  assert.equal(windowText(data.about, { from: 0, to: BINS }), "the whole run");
  assert.equal(windowText(data.about, { from: 2, to: 4 }), "3.0 s to 4.0 s");
});

test("ticks are round, within the axis, and no more than there is room for", () => {
  for (const [metric, least, most] of [[METRICS[0], 3e-5, 20], [METRICS[0], 2e-3, 9e-3], [METRICS[1], 500, 2 ** 31]]) {
    for (const room of [2, 4, 9]) {
      const found = valueTicks(metric, least, most, room);
      assert.ok(found.length <= Math.max(room, 1) && found.every((value) => value >= least * 0.99 && value <= most * 1.01), `${found}`);
      for (const value of found) {
        const base = metric.unit === "bytes" ? 2 : 10;
        const digits = value / base ** Math.floor(Math.log(value * 1.0001) / Math.log(base));
        assert.ok([1, 2, 5].some((one) => Math.abs(digits - one) < 1e-6), `${value}`);
      }
    }
  }
});
