/** Modules of the client do not import each other in a circle; imports of types count. */

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const IMPORT = /\b(?:from|import)\s*\(?\s*"\.\/([\w-]+)"/g;

/** The first circle that is reached from a module, as a path that ends where it begins. */
function circle(imports, name, path = []) {
  if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
  for (const next of imports.get(name)) {
    const found = circle(imports, next, [...path, name]);
    if (found) return found;
  }
}

function importsOf(sources) {
  return new Map(Object.entries(sources).map(([name, text]) => [name, Array.from(text.matchAll(IMPORT), ([, other]) => other)]));
}

test("no module of src imports itself by way of others", () => {
  const files = readdirSync("src").filter((name) => name.endsWith(".ts"));
  const imports = importsOf(Object.fromEntries(files.map((name) => [name.replace(".ts", ""), readFileSync(`src/${name}`, "utf8")])));
  assert.ok(imports.get("main").includes("explorer"), "imports are not found");
  for (const name of imports.keys()) assert.equal(circle(imports, name)?.join(" → "), undefined);
});

test("a circle of types is found", () => {
  const imports = importsOf({ a: 'import { b } from "./b";', b: 'import {\n  type C,\n} from "./c";', c: 'import type { A } from "./a";' });
  assert.deepEqual(circle(imports, "b"), ["b", "c", "a", "b"]);
});
