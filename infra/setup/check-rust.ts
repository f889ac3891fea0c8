import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { runMain } from "../../base/run-main.ts";

// Runs rustfmt over the one Rust program. With --write, it fixes what it finds. Without Rust installed, or where rustup finds no
// toolchain, it does nothing: whoever has no Rust has not changed the program.
const write = process.argv.includes("--write");

await runMain(() => {
  const cargo = findProgram("cargo");
  if (cargo === undefined || findProgram("rustfmt") === undefined) return;
  if (spawnSync(cargo, ["fmt", "--version"], { stdio: "ignore" }).status !== 0) return;
  const { status } = spawnSync(cargo, ["fmt", ...(write ? [] : ["--check"])], {
    cwd: join(ROOT, "bench/instrument/quiche"),
    stdio: "inherit",
  });
  if (status !== 0) throw new UserError("rustfmt would change bench/instrument/quiche (npm run format fixes it).");
});
