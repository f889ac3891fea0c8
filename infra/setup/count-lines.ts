import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { codeLines } from "./code-lines.ts";

// `npm run count-lines` counts lines of code by room, without blank lines, comments, tests and recorded results. Two counts
// are comparable if the formatters' settings were the same.

const LANGUAGES: Readonly<Record<string, "slashes" | "hash">> = {
  ".ts": "slashes",
  ".mjs": "slashes",
  ".js": "slashes",
  ".go": "slashes",
  ".rs": "slashes",
  ".py": "hash",
};

/** Names of tests, of recorded results and of what is generated, or of their folders. */
const LEFT_OUT =
  /^worker-configuration\.d\.ts$|\.test\.ts$|_test\.go$|(^|\/)testing[^/]*\.ts$|\/(e2e|testsite|testdata|edgetest|results)\//;

/** These folders are divided into rooms. */
const HOUSES = new Set(["bench", "infra", "policy-api"]);

await runMain(() => {
  const files = execFileSync("git", ["ls-files"], { cwd: ROOT, encoding: "utf8" }).trim().split("\n");
  const rooms = new Map<string, number>();
  for (const file of files) {
    const comments = LANGUAGES[extname(file)];
    if (comments === undefined || LEFT_OUT.test(file)) continue;
    const lines = codeLines(readFileSync(join(ROOT, file), "utf8"), comments);
    const [house = "", room = ""] = file.split("/");
    const names =
      HOUSES.has(house) && room.includes(".") ? [house] : HOUSES.has(house) ? [house, `${house}/${room}`] : [house];
    for (const name of new Set([...names, "all"])) rooms.set(name, (rooms.get(name) ?? 0) + lines);
  }
  for (const [room, lines] of [...rooms].toSorted(([one], [other]) => one.localeCompare(other)))
    if (!room.includes(".")) console.log(`${room.padEnd(24)} ${lines.toLocaleString("en-US").padStart(7)}`);
});
