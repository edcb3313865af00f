/** What the address of a page keeps, and what it does to one that is hostile or stale. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { merged, parsed } from "../src/address.ts";
import { parseRange, rangeText, SECONDS, SIZES } from "../src/ranges.ts";
import { askedOf, NAMES, NOTHING_CHOSEN, valuesOf } from "../src/state.ts";

const ABOUT = {
  run_seconds: 10, shown_seconds: 10,
  rank_count: 256,
  ops: ["read", "write"],
  files: ["/a", "/b"],
  osts: [{ ost_id: 3 }],
  phases: [],
  highlights: [{ code: "RANK-101", text: "Slow." }, { code: "rank 0", text: "What rank 0 does." }],
};
const COLOURS = ["read", "write", "to 1 KiB", "not highlighted"];
const asked = (hash) => askedOf(parsed(hash), ABOUT, COLOURS);

test("what was chosen and seen comes back from its address", () => {
  const chosen = {
    ...{ ...NOTHING_CHOSEN, view: "osts", isBySize: true, file: 1, ranks: Int32Array.of(0, 1, 2, 9), op: "write" },
    ...{ size: [4096, Infinity], took: [0, 0.0000125], hidden: new Set(["to 1 KiB"]), highlight: ABOUT.highlights[1] },
  };
  const window = { x: [2.8, 3.6], lanes: [0, 4] };
  const hash = merged("", "trace", NAMES, valuesOf(chosen, window));
  const expected = "#trace&view=osts&colour=size&t=2.8-3.6&lanes=0-4&file=1&ranks=0-2,9&op=write&size=4096-&took=0-0.0000125&hide=to+1+KiB&highlight=rank+0";
  assert.equal(hash, expected);
  assert.deepEqual(asked(hash), { chosen, window, ignored: [] });
});

test("nothing chosen leaves the address alone, and takes back what stood in it", () => {
  const none = valuesOf(NOTHING_CHOSEN, {});
  assert.equal(merged("#findings", "trace", NAMES, none), "#findings");
  assert.equal(merged("", "trace", NAMES, none), "");
  assert.equal(merged("#trace&view=osts&t=1-2", "trace", NAMES, none), "");
  assert.equal(merged("#trace&view=osts&rings=rank,file", "trace", NAMES, none), "#trace&rings=rank,file");
});

test("two pictures keep each other's part of an address", () => {
  const rings = new Map([["rings", "rank,file"]]);
  assert.equal(merged("#findings", "", ["rings", "arc"], rings), "#rings=rank,file");
  assert.equal(merged("#trace&view=osts", "", ["rings", "arc"], rings), "#trace&view=osts&rings=rank,file");
  assert.equal(merged("#rings=rank,file", "trace", NAMES, new Map([["t", "1-2"]])), "#trace&rings=rank,file&t=1-2");
});

test("parts that the trace does not have are left out and named, and the rest is followed", () => {
  const parts = ["view=phases", "t=12-14", "lanes=1.5-3", "file=2", "ranks=0-256", "op=append", "size=x", "took=3-1", "hide=red", "highlight=RANK-999"];
  for (const part of parts) {
    const { chosen, ignored } = asked(`#trace&${part}&colour=size`);
    assert.deepEqual(ignored.slice(0, 1), [part]);
    assert.deepEqual(chosen, NOTHING_CHOSEN);
  }
  assert.deepEqual(asked("#trace&view=nothing&op=read"), { chosen: { ...NOTHING_CHOSEN, op: "read" }, window: {}, ignored: ["view=nothing"] });
});

test("an anchor that is a finding's code highlights it, any other nothing", () => {
  assert.equal(asked("#RANK-101").chosen.highlight.code, "RANK-101");
  assert.deepEqual(asked("#layers"), { chosen: NOTHING_CHOSEN, window: {}, ignored: [] });
});

test("hostile addresses give a choice all the same", () => {
  const hostile = ["#%", "#%E0%A4%A", "#&&&=&==", "#trace&ranks=%00-1", "#trace&__proto__=1&constructor=2", "#trace&view=toString", "#trace&t=-", "#trace&t=Infinity-NaN"];
  for (const hash of hostile) assert.deepEqual(asked(hash).chosen, NOTHING_CHOSEN, hash);
  const long = `#trace&ranks=${"0-255,".repeat(1e5)}0`;
  assert.equal(parsed(long).isTooLong, true);
  assert.deepEqual(asked(long).chosen, NOTHING_CHOSEN);
});

test("ranges are read as people write them", () => {
  const of = (text, units = SIZES) => parseRange(text, units);
  assert.deepEqual(of("4K-1M"), [4096, 2 ** 20]);
  assert.deepEqual(of("1.5 KiB – 2gb"), [1536, 2 ** 31]);
  assert.deepEqual(of("-100"), [0, 100]);
  assert.deepEqual(of("7"), [7, 7]);
  assert.deepEqual(of("10ms-", SECONDS), [0.01, Infinity]);
  assert.deepEqual(of("5 µs-1min", SECONDS), [5e-6, 60]);
  assert.equal(of("  "), undefined);
  for (const text of ["-", "0-", "4K-1K", "1-2-3", "1e3-", "4Q", "K", "ms"]) assert.throws(() => of(text), /is not a range/, text);
  for (const range of [[0, 5], [4096, Infinity], [0.25, 0.5], [7, 7], [0, 1e-9]]) assert.deepEqual(parseRange(rangeText(range), {}), range);
});
