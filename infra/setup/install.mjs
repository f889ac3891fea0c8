// Installs what package-lock.json pins, before every npm script that needs it. It is plain JavaScript because it runs on the machine's own Node; everything else runs on the Node that is installed here.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { delimiter, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const stampFile = join(root, "node_modules", ".lock-stamp");
const lockFile = join(root, "package-lock.json");
if (!existsSync(lockFile)) fail("package-lock.json is missing.");
const lock = createHash("sha256").update(readFileSync(lockFile)).digest("hex");

if (!existsSync(stampFile) || readFileSync(stampFile, "utf8") !== lock) {
  const [major] = process.versions.node.split(".").map(Number);
  if (major < 20) fail(`Node ${process.versions.node} is too old: install Node 20 or newer.`);
  console.error("Installing the pinned dependencies (npm ci) ...");
  // npm ci deletes node_modules/.bin, and with it the Node that npm scripts find first. So use the machine's own Node.
  const path = (process.env.PATH ?? "").split(delimiter).filter((dir) => !dir.endsWith(join("node_modules", ".bin")));
  const run = spawnSync("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ["ignore", 2, 2],
    shell: sep === "\\",
  });
  if (run.error) fail(`npm could not be started: ${run.error.message}`);
  if (run.status !== 0) fail("npm ci failed: see above. It needs the npm registry and a writable folder.");
  writeFileSync(stampFile, lock);
}

function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}
