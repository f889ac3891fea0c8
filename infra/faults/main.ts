import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { buildEdge, buildPeer, buildWorker } from "../setup/build.ts";
import { requireGo } from "../setup/programs.ts";
import { namespaceCommand } from "./machine.ts";
import { readOptions, USAGE } from "./options.ts";

// `npm run test:faults`: builds the programs, then runs inside.ts in network and mount namespaces of its own. They end with
// the run, with all that the faults changed in them.
await runMain(async () => {
  const args = process.argv.slice(2);
  if (readOptions(args).help) {
    console.log(USAGE);
    return;
  }
  requireGo();
  console.log("Building the worker, the edge and the load generator ...");
  await buildWorker();
  await buildEdge();
  await buildPeer();

  const namespaces = namespaceCommand();
  const [program, ...before] = [
    ...(namespaces ?? []),
    process.execPath,
    join(ROOT, "infra/faults/inside.ts"),
    namespaces === undefined ? "machine" : "namespaces",
  ];
  const run = spawn(program, [...before, ...args], { stdio: "inherit", cwd: ROOT });
  // Ctrl-C in a terminal reaches the run too, and the run ends in order. Other signals are passed on.
  process.on("SIGINT", () => undefined);
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => run.kill(signal));
  const [code] = (await once(run, "close")) as [number | null];
  process.exitCode = code ?? 1;
});
