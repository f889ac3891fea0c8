import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "./build.ts";
import { findProgram, UserError } from "./programs.ts";
import { runMain } from "./run-main.ts";

// rustfmt over the one Rust program; with --write it mends what it finds. Who has no Rust has not changed it.
const write = process.argv.includes("--write");

await runMain(() => {
  const cargo = findProgram("cargo");
  if (cargo === undefined || findProgram("rustfmt") === undefined) return;
  const { status } = spawnSync(cargo, ["fmt", ...(write ? [] : ["--check"])], {
    cwd: join(ROOT, "bench/quiche"),
    stdio: "inherit",
  });
  if (status !== 0) throw new UserError("rustfmt would change bench/quiche (npm run format mends it).");
});
