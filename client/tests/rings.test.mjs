/** Circles that are chosen, against what looking at every request gives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { countedRequests } from "../src/moved.ts";
import { RadialData, Ring } from "../src/radialdata.ts";
import { Rings } from "../src/radialrings.ts";
import { Rows } from "../src/rows.ts";

const METRICS = [
  { name: "latency", title: "Latency", unit: "seconds", least: 1e-6, most: 1e3, bins: 24 },
  { name: "size", title: "Size", unit: "bytes", least: 1, most: 2 ** 34, bins: 24 },
];
const TIME = { bins: 4, begin: 0, width: 1, kind: "run" };
const WHOLE = { from: 0, to: TIME.bins };
const nodes = (kind, labels, more = {}) => ({
  ...{ kind, one: kind, many: `${kind}s`, labels, hosts: [], positions: [], firstRanks: [], lastRanks: [], osts: [], links: [] },
  ...more,
});
// Ranks 0 to 7 on hosts a, a, b, b, …; ranks 0, 4 carry for four each; OSTs 3 and 5 are on s1, 9 on an unknown server.
const HOSTS = ["a", "a", "b", "b", "c", "c", "d", null];
const FILES = ["/x/one", "/x/two", "/y/three"];

/** Requests of a run: every rank asks for something of each file, and its carrier writes it. */
function requests() {
  let seed = 11;
  const dice = (most) => (seed = (seed * 16807) % 2147483647) % most;
  const rows = [];
  for (let rank = 0; rank < 8; rank++) {
    for (let turn = 0; turn < 10; turn++) {
      rows.push({ rank, carrier: rank - (rank % 4), op: turn % 2, ost: [3, 5, 9][dice(3)], file: dice(3), time: dice(4) + 0.5, seconds: (1 + dice(9)) / 1000, length: 2 ** dice(20) });
    }
  }
  return rows;
}

/** What a page has of them: cells of ranks to carriers and of carriers to OSTs, and the requests of carriers. */
function made(perArc = 1) {
  const all = requests();
  const arcOf = (rank) => Math.floor(rank / perArc);
  const arcs = Array.from({ length: 8 / perArc }, (_, arc) => arc * perArc);
  const cells = [0, 1].flatMap((ring) =>
    [0, 1].flatMap((op) =>
      [0, 1].flatMap((metric) =>
        all
          .filter((row) => row.op === op)
          .map((row) => {
            const ends = ring ? [row.carrier / 4, [3, 5, 9].indexOf(row.ost)] : [arcOf(row.rank), row.carrier / 4];
            const value = metric ? row.length : row.seconds;
            return { ring, op, metric, from: ends[0], to: ends[1], time: Math.floor(row.time), value: 3, count: 1, bytes: row.length, mean: value, least: value, most: value };
          }),
      ),
    ),
  );
  const circles = [
    nodes("rank", arcs.map((first) => `rank ${first}`), { hosts: arcs.map((first) => (perArc === 1 ? HOSTS[first] : null)), positions: arcs.map((first) => first / 8), firstRanks: arcs, lastRanks: arcs.map((first) => first + perArc - 1) }),
    nodes("carrier", ["rank 0", "rank 4"], { hosts: ["a", "c"], positions: [0, 0.5], firstRanks: [0, 4], lastRanks: [0, 4] }),
    nodes("ost", ["OST 3", "OST 5", "OST 9"], { hosts: ["s1", "s1", null], osts: [3, 5, 9] }),
  ];
  const about = { title: "made", circles, metrics: METRICS, ops: ["read", "write"], counts: "request", time: TIME, missing: [{ ring: 0, op: -1, metric: -1, text: "lack" }] };
  const columns = Object.fromEntries(Object.keys(cells[0]).map((name) => [name, Float64Array.from(cells, (cell) => cell[name])]));
  const column = (valueOf) => Float64Array.from(all, valueOf);
  const traced = { run_seconds: 4, layers: ["mpiio", "posix"], files: FILES, mounts: ["/x", null], mount_of: [0, 0, 1] };
  const rows = new Rows(
    {
      ...{ layer: column(() => 1), op: column(({ op }) => op), rank: column(({ carrier }) => carrier), ost_id: column(({ ost }) => ost) },
      ...{ file_id: column(({ file }) => file), start_ticks: column(({ time }) => time), seconds: column(({ seconds }) => seconds), length_bytes: column(({ length }) => length) },
    },
    1,
  );
  return { all, rings: new Rings(new RadialData(about, columns)), requests: { about: traced, rows } };
}

const edges = (data, number, op, metric) => {
  const ring = new Ring(data, number, op, metric);
  const { count, bytes, most } = ring.byEdge(WHOLE);
  const [from, to] = [data.about.circles[number].labels, data.about.circles[number + 1].labels];
  return new Map(Array.from(ring.from, (start, edge) => [`${from[start]} > ${to[ring.to[edge]]}`, [count[edge], bytes[edge], most[edge]]]));
};

/** The same by looking at each request. */
const expected = (all, op, metric, fromOf, toOf) => {
  const found = new Map();
  for (const row of all.filter((each) => each.op === op)) {
    const value = metric ? row.length : row.seconds;
    const [count, bytes, most] = found.get(`${fromOf(row)} > ${toOf(row)}`) ?? [0, 0, 0];
    found.set(`${fromOf(row)} > ${toOf(row)}`, [count + 1, bytes + row.length, Math.max(most, value)]);
  }
  return found;
};

const same = (got, wanted) => {
  assert.deepEqual([...got.keys()].sort(), [...wanted.keys()].sort());
  for (const [name, values] of wanted) values.forEach((value, at) => assert.ok(Math.abs(got.get(name)[at] - value) <= 1e-9 * value, `${name}: ${got.get(name)} ${values}`));
};

const OF = {
  rank: ({ rank }) => `rank ${rank}`,
  host: ({ rank }) => HOSTS[rank] ?? "unknown host",
  carrier: ({ carrier }) => `rank ${carrier}`,
  carriersHost: ({ carrier }) => HOSTS[carrier],
  ost: ({ ost }) => `OST ${ost}`,
  oss: ({ ost }) => (ost === 9 ? "unknown OSS" : "s1"),
  file: ({ file }) => FILES[file],
  mount: ({ file }) => (file < 2 ? "/x" : "unknown mount"),
};

test("edges of circles that are chosen are those of the requests", () => {
  const { all, rings, requests } = made();
  const moved = countedRequests(requests, METRICS, TIME, () => true);
  // Circles, and what stands for each end of each ring: beyond carriers ranks and hosts are those that moved the bytes.
  for (const [kinds, ...ends] of [
    [["rank", "carrier", "ost"], ["rank", "carrier"], ["carrier", "ost"]],
    [["host", "carrier", "oss"], ["host", "carrier"], ["carrier", "oss"]],
    [["host", "ost"], ["carriersHost", "ost"]],
    [["rank", "oss"], ["carrier", "oss"]],
    [["oss", "carrier", "rank"], ["oss", "carrier"], ["carrier", "rank"]],
    [["carrier", "file", "mount"], ["carrier", "file"], ["file", "mount"]],
    [["rank", "host", "file"], ["carrier", "carriersHost"], ["carriersHost", "file"]],
    [["ost", "mount"], ["ost", "mount"]],
  ]) {
    const data = rings.data(kinds, rings.requested(kinds).length ? moved : undefined);
    assert.deepEqual(data.about.circles.map(({ kind }) => kind), kinds);
    for (const op of [0, 1]) for (const metric of [0, 1]) ends.forEach(([from, to], ring) => same(edges(data, ring, op, metric), expected(all, op, metric, OF[from], OF[to])));
  }
});

test("only what cells do not have is asked of requests, and what is missing stays with its ring", () => {
  const { rings } = made();
  assert.deepEqual(rings.requested(["rank", "carrier", "ost"]), []);
  assert.deepEqual(rings.requested(["rank", "carrier", "file"]), [["carrier", "file"]]);
  assert.deepEqual(rings.requested(["host", "oss"]), []);
  assert.deepEqual(rings.data(["ost", "carrier", "host"]).about.missing.map(({ ring }) => ring), [1]);
  assert.deepEqual(rings.kinds(), ["rank", "host", "carrier", "ost", "oss", "mount", "file"]);
});

test("an arc opens to its single ranks", () => {
  const { all, rings, requests } = made(2);
  assert.deepEqual(rings.ranksOf(2), [4, 5]);
  const moved = countedRequests(requests, METRICS, TIME, (rank) => rank === 4 || rank === 5);
  const data = rings.data(["rank", "ost"], moved, 2);
  assert.deepEqual(data.about.circles[0].labels, ["rank 4", "rank 5"]);
  for (const op of [0, 1]) same(edges(data, 0, op, 0), expected(all.filter(({ carrier }) => carrier === 4), op, 0, OF.carrier, OF.ost));
  assert.ok(!rings.kinds(2).includes("carrier"));
});

test("files beyond the most are one, and lose nothing", () => {
  const { requests, rings } = made();
  const { about, rows } = requests;
  const names = Array.from({ length: 100 }, (_, at) => `/x/${at}\u202e`);
  rows.file.forEach((_, row) => (rows.file[row] = row));
  const moved = countedRequests({ about: { ...about, files: names, mount_of: names.map(() => 0) }, rows }, METRICS, TIME, () => true);
  assert.equal(moved.files.length, 65);
  assert.ok(moved.files.every((name) => name.endsWith("\\u202e") || name === "all other files"));
  const sum = edges(rings.data(["rank", "file"], moved), 0, 0, 1);
  assert.equal([...sum.values()].reduce((count, [each]) => count + each, 0), rows.count / 2);
});
