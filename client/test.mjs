/** Tests the modules that need no browser. */

import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const built = mkdtempSync(join(tmpdir(), "iomine-client-"));
try {
  await build({
    absWorkingDir: HERE,
    entryPoints: ["tests/*.test.mjs"],
    outdir: built,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
  });
  process.exitCode = spawnSync(process.execPath, ["--test", built], { cwd: HERE, stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(built, { recursive: true });
}
