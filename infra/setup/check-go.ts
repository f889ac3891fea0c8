import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./build.ts";
import { requireGo, UserError } from "./programs.ts";
import { runMain } from "./run-main.ts";

// gofumpt and go vet over the Go module; with --write gofumpt mends what it finds.
const write = process.argv.includes("--write");
const cwd = join(ROOT, "infra/edge");

await runMain(() => {
  const go = requireGo();
  const format = spawnSync(go, ["tool", "gofumpt", write ? "-w" : "-l", "."], { cwd, encoding: "utf8" });
  const unformatted = format.stdout.trim();
  if (format.status !== 0 || unformatted !== "")
    throw new UserError(
      `gofumpt would change, in infra/edge (npm run format mends it):\n${unformatted}${format.stderr}`,
    );
  if (spawnSync(go, ["vet", "./..."], { cwd, stdio: "inherit" }).status !== 0) process.exitCode = 1;
});
