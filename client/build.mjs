/** Builds what the Python package ships: the script, its style, and the licences of what is bundled. */

import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = process.argv[2] ?? join(HERE, "../iomine/report/assets");
const ALLOWED = ["BSD-3-Clause", "ISC", "MIT"];

const { metafile } = await build({
  absWorkingDir: HERE,
  entryPoints: [
    { in: "src/main.ts", out: "explorer" },
    { in: "src/explorer.css", out: "explorer" },
    { in: "src/fabricmain.ts", out: "fabric" },
    { in: "src/radialmain.ts", out: "radial" },
    { in: "src/searchmain.ts", out: "search" },
  ],
  outdir: TARGET,
  bundle: true,
  minify: true,
  // A classic script: browsers refuse modules in pages opened from files.
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
});

const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.slice(1) ?? []));
const texts = [...packages].sort().map((name) => {
  const folder = join(HERE, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  if (!ALLOWED.includes(license)) throw new Error(`${name} has the licence ${license}, which is none of ${ALLOWED.join(", ")}.`);
  const file = readdirSync(folder).find((found) => /^licen[cs]e/i.test(found));
  if (!file) throw new Error(`${name} comes without the text of its licence.`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
});
writeFileSync(join(TARGET, "LICENSES.txt"), texts.join(`\n${"-".repeat(72)}\n\n`));
