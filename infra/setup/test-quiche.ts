import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { CONSENT_VARIABLE } from "./consent.ts";

// `npm run test:quiche` runs the tests with the server on quiche, as root. When they pass, it stores a hash of the server's
// folder, lockfile included, in that folder. With --if-changed it runs nothing if the hash is still the same.
// --install allows it to install what is missing.

const FOLDER = "bench/instrument/quiche";
const STAMP = join(ROOT, FOLDER, "tested.sha256");

/** A hash of the names and contents of the server's files. */
function fingerprint(): string {
  const hash = createHash("sha256");
  const files = execFileSync("git", ["ls-files", FOLDER], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  for (const file of files)
    if (!/\.(md|sha256)$/.test(file))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(ROOT, file)))
        .update("\0");
  return hash.digest("hex");
}

await runMain(() => {
  const now = fingerprint();
  const tested = existsSync(STAMP) ? readFileSync(STAMP, "utf8").trim() : "";
  if (process.argv.includes("--if-changed") && tested === now) {
    console.log(`${FOLDER} has not changed since its tests last passed, so they do not run again.`);
    return;
  }
  if (process.argv.includes("--install")) process.env[CONSENT_VARIABLE] = "yes";
  const vitest = join(ROOT, "node_modules/.bin/vitest");
  const { status } = spawnSync(process.execPath, [vitest, "run", "--project", "quiche"], {
    cwd: ROOT,
    stdio: "inherit",
  });
  process.exitCode = status ?? 1;
  if (status === 0) writeFileSync(STAMP, `${now}\n`);
});
