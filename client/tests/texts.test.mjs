/** Texts that people write and read. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { LaneAxis, xTicks } from "../src/axes.ts";
import { csv } from "../src/fields.ts";
import * as format from "../src/format.ts";
import { parseRanks } from "../src/select.ts";

test("numbers have the unit that fits them", () => {
  assert.deepEqual([0, 999, 1000, 1234567, 2 ** 53].map(format.whole), ["0", "999", "1,000", "1,234,567", "9,007,199,254,740,992"]);
  const sizes = [0, 1, 1023, 1536, 2 ** 20, 10.26 * 2 ** 30, 2 ** 60].map(format.bytes);
  assert.deepEqual(sizes, ["0 B", "1 B", "1023 B", "1.5 KiB", "1 MiB", "10.3 GiB", "1 EiB"]);
  const durations = [0, 2.5e-6, 0.0021, 0.67, 75, 150, 7199, 7300].map(format.seconds);
  assert.deepEqual(durations, ["0 µs", "2.5 µs", "2.1 ms", "670 ms", "75 s", "2 min 30 s", "119 min 59 s", "2 h 1 min"]);
});

test("times have as many decimals as distinguish them", () => {
  assert.deepEqual([format.clock(75.25, 0.05), format.clock(75.25, 1), format.clock(599.9996, 1e-3)], ["75.25 s", "75 s", "600.000 s"]);
  assert.deepEqual([format.clock(725.5, 0.5), format.clock(12005, 60)], ["12:05.5", "3:20:05"]);
  assert.deepEqual([format.clock(3599.9999, 1), format.clock(719.96, 0.1)], ["1:00:00", "12:00.0"]);
});

test("ranks are read as people write them", () => {
  assert.deepEqual([...parseRanks(" 8, 0-3,2 ", 16)], [0, 1, 2, 3, 8]);
  assert.equal(parseRanks("  ", 16), undefined);
  for (const text of ["a", "3-1", "16", "1,,2", "-1", "1e3"]) assert.throws(() => parseRanks(text, 16), /Ranks go|Write ranks/);
});

test("ticks are round in the unit that is shown, and as many as there is room for", () => {
  const axis = { kind: "offset", title: "", from: 0, to: 8 * 2 ** 30, minSpan: 1 };
  assert.deepEqual(
    xTicks(axis, 0, 4.1 * 2 ** 30, 5).map(({ label }) => label),
    ["0 B", "1 GiB", "2 GiB", "3 GiB", "4 GiB"],
  );
  assert.deepEqual(
    xTicks(axis, 2 ** 30, 1.5 * 2 ** 30, 4).map(({ label }) => label),
    ["1 GiB", "1.125 GiB", "1.25 GiB", "1.375 GiB", "1.5 GiB"],
  );
  const lanes = new LaneAxis("rank", 2 ** 31);
  assert.deepEqual(lanes.ticks(2 ** 30, 2 ** 30 + 4, 8), [0, 1, 2, 3].map((at) => 2 ** 30 + at));
  assert.ok(lanes.ticks(0, 2 ** 31, 8).length <= 8);
});

test("texts in CSV stay texts", () => {
  const field = (value) => ({ name: "n", label: "", value: () => value, shown: () => "" });
  const line = csv([field('a"b,c'), field("=1+1"), field(-1.5), field("x\ny")], [0]).split("\r\n").slice(1).join("|");
  assert.equal(line, `"a""b,c",'=1+1,-1.5,"x\ny"|`);
});
