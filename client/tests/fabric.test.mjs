/** The fabric's data, scene and shapes, against what looking at every link gives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { read } from "../src/blocks.ts";
import { Fabric } from "../src/fabricdata.ts";
import { oddOnes, shapesOf } from "../src/fabricglyphs.ts";
import { highest, sceneOf } from "../src/fabricscene.ts";

const STEPS = 4094;
const ABOUT = { night: "2026-11-20", lowest: 1e-6, highest: 1e9, steps: STEPS, slots: 3 };
const level = (value) => (Number.isNaN(value) ? 0 : value ? Math.round(2 + (Math.log(value / 1e-6) / Math.log(1e15)) * STEPS) : 1);
const levels = (values) => Uint16Array.from(values, level);

/** Two leaves with two hosts each, two parallel links between the leaves, and a leaf linked to itself. */
function fabric(load) {
  const used = [0.8, 0.1, 0.2, 0.1, 0, 0, 0.1, 0.1, 0.6, 0.1, 0.3, NaN, NaN, NaN];
  const nights = Object.fromEntries(
    ["utilisation", "storage", "waiting", "errors", "multicast", "peak"].map((name) => [`night_${name}`, levels(used.map((one) => (name === "storage" ? one / 2 : one)))]),
  );
  const series = Object.fromEntries(["utilisation", "storage", "waiting", "errors", "multicast"].map((name) => [`series_${name}`, levels([0.1, NaN, 0.5])]));
  const arrays = {
    ...{ kind: Uint8Array.of(0, 0, 1, 1, 1, 1), tier: Uint8Array.of(1, 1, 0, 0, 0, 0), lid: new Uint32Array(6), port_count: new Uint16Array(6) },
    ...{ x: Float32Array.of(0, 9, 0, 1, 9, 10), y: new Float32Array(6), parent: Int32Array.of(-1, -1, 0, 0, 1, 1), chassis: new Int32Array(6).fill(-1) },
    ...{ end: Uint32Array.of(2, 3, 4, 5, 0, 0, 0), peer: Uint32Array.of(0, 0, 1, 1, 1, 1, 0), port: new Uint16Array(7), peer_port: new Uint16Array(7) },
    ...{ lanes: new Uint8Array(7), speed: new Uint8Array(7), capacity: new Float32Array(7).fill(100), is_up: new Uint8Array(7).fill(1) },
    ...{ hot: Uint32Array.of(8), sharer_link: new Uint32Array(), sharer_job: new Uint16Array(), sharer_bytes: new Float32Array(), ...nights, ...series },
  };
  const about = { ...ABOUT, guids: [], names: [], descriptions: [], kinds: ["switch", "host"], speeds: ["EDR"], jobs: [], evidence: [] };
  return new Fabric({ about, arrays }, load ?? (() => Promise.reject(new Error("nothing more"))));
}

const CHOICE = { metric: "utilisation", least: "all", isEach: false, hosts: "folded", opened: new Set(), job: undefined };
const near = (got, expected) => assert.ok(Math.abs(got - expected) <= 0.006 * Math.abs(expected), `${got} is not ${expected}`);

test("arrays come from multiples of eight bytes", () => {
  const text = JSON.stringify({ arrays: [{ name: "a", type: "uint8", length: 3 }, { name: "b", type: "float32", length: 2 }] });
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const bytes = new ArrayBuffer(start + 16);
  new DataView(bytes).setUint32(0, text.length, true);
  new Uint8Array(bytes).set(new TextEncoder().encode(text), 4);
  new Uint8Array(bytes).set([1, 2, 3], start);
  new Float32Array(bytes, start + 8).set([1.5, -2]);
  const { arrays } = read(bytes);
  assert.deepEqual([[...arrays.a], [...arrays.b]], [[1, 2, 3], [1.5, -2]]);
});

test("parallel links are one line with the highest number, or each its own beside the others", async () => {
  const made = fabric();
  const values = await made.values(undefined, false);
  const folded = sceneOf(made, values, CHOICE);
  assert.deepEqual([...folded.from, ...folded.to, folded.links.length], [0, 1, 1]);
  assert.deepEqual(folded.links[0], [4, 5]);
  near(folded.value[0], 0.6);
  const each = sceneOf(made, values, { ...CHOICE, isEach: true });
  assert.deepEqual([...each.place], [0, 1]);
  assert.deepEqual(sceneOf(made, values, { ...CHOICE, hosts: "all" }).links.length, 5);
  assert.deepEqual(sceneOf(made, values, { ...CHOICE, opened: new Set([0]) }).links.length, 3);
});

test("links below the least class are counted and not drawn", async () => {
  const made = fabric();
  const values = await made.values(undefined, false);
  const scene = sceneOf(made, values, { ...CHOICE, hosts: "all", least: "congested" });
  assert.deepEqual([scene.links.flat(), scene.hiddenCount], [[0], 5]);
});

test("a window is the mean of its known slots, errors are their sum, and other links are not known", () => {
  const values = fabric().ofHot({ first: 0, count: 3 });
  near(values.utilisation[8], 0.3);
  near(values.errors[8], 0.6);
  assert.ok(Number.isNaN(values.utilisation[9]));
  assert.ok(Number.isNaN(fabric().ofHot({ first: 1, count: 1 }).utilisation[8]));
});

test("all links of a window come from its slots, and what failed is asked for again", async () => {
  let asked = 0;
  const made = fabric(() => (asked++ ? Promise.resolve({ arrays: Object.fromEntries(["utilisation", "storage", "waiting", "errors", "multicast"].map((name) => [name, levels(new Array(14).fill(0.25))])) }) : Promise.reject(new Error("down"))));
  await assert.rejects(made.values({ first: 0, count: 1 }, true));
  const values = await made.values({ first: 0, count: 1 }, true);
  near(values.utilisation[13], 0.25);
  assert.equal(asked, 2);
});

test("what a device sends and receives adds up over its links", async () => {
  const made = fabric();
  const { absolute } = shapesOf(made, await made.values(undefined, false), (node) => node, 6);
  // Node 2 sends 0.8 and receives 0.1 over its only link.
  near(absolute[2 * 7], 0.8);
  near(absolute[2 * 7 + 1], 0.4);
  near(absolute[2 * 7 + 5], 0.1);
  // Leaf 1 sends 0, 0.1 to hosts and 0.1 to the other leaf; what is not known adds nothing, but could have been moved.
  near(absolute[1 * 7], 0.2 / 4);
});

test("nodes with twice the median, or half of it, stand out", () => {
  const absolute = new Float32Array(5 * 7);
  [0.2, 0.21, 0.19, 0.9, 0.2].forEach((value, node) => (absolute[node * 7] = value));
  const odd = oddOnes([0, 1, 2, 3, 4], { absolute, relative: absolute });
  assert.deepEqual(odd.map(({ node, axis }) => [node, axis]), [[3, 0]]);
  assert.deepEqual(oddOnes([0, 1, 3], { absolute, relative: absolute }), []);
});

test("the highest numbers come first, those that are not known not at all", () => {
  assert.deepEqual(highest([0.1, NaN, 0.5, 0, 0.3], 2), [2, 4]);
  assert.deepEqual(highest([NaN, 0], 2), []);
  assert.deepEqual(highest([], 2), []);
});
