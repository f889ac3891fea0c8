import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { GO_MODULES, TOOLS_MODULE } from "./go-modules.ts";
import { UserError } from "../../base/user-error.ts";
import { requireGo } from "./programs.ts";
import { runMain } from "../../base/run-main.ts";

// Runs gofumpt and go vet over the Go modules. With --write, gofumpt fixes what it finds.
const write = process.argv.includes("--write");

await runMain(() => {
  const go = requireGo();
  const folders = GO_MODULES.map(({ folder }) => join(ROOT, folder));
  const format = spawnSync(go, ["tool", "gofumpt", write ? "-w" : "-l", ...folders], {
    cwd: join(ROOT, TOOLS_MODULE),
    encoding: "utf8",
  });
  const unformatted = format.stdout.trim();
  if (format.status !== 0 || unformatted !== "")
    throw new UserError(
      `gofumpt would change these files (npm run format fixes them):\n${unformatted}${format.stderr}`,
    );
  for (const { folder, packages } of GO_MODULES)
    if (spawnSync(go, ["vet", ...packages], { cwd: join(ROOT, folder), stdio: "inherit" }).status !== 0)
      process.exitCode = 1;
});
