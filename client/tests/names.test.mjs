/** What the search field of a site without a server finds. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { found } from "../src/names.ts";

const NAMES = {
  job: [["4100", "", "reports/job.a.4100.html"], ["41", "", "reports/job.a.41.html"], ["1410", "", "reports/x.html"]],
  user: [["Bob41", "", "u"], ["__proto__", "", "p"]],
};
const named = (text) => found(NAMES, text).map(({ kind, name }) => [kind, name]);

test("what is called just so comes first, then what begins so, in either case", () => {
  assert.deepEqual(named("41"), [["job", "41"], ["job", "4100"], ["job", "1410"], ["user", "Bob41"]]);
  assert.deepEqual(named("BOB"), [["user", "Bob41"]]);
  assert.deepEqual(named("__proto__"), [["user", "__proto__"]]);
  assert.deepEqual(named("nobody"), []);
});

test("of a kind four come", () => {
  const many = { log: Array.from({ length: 9 }, (_, at) => [`log${at}`, "", `${at}`]) };
  assert.deepEqual(found(many, "LOG").map(({ name }) => name), ["log0", "log1", "log2", "log3"]);
});
