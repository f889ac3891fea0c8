import { runMain } from "../infra/setup/run-main.ts";
import { overhead } from "./overhead.ts";

/** What `npm run bench -- <experiment>` can run. */
const EXPERIMENTS: Readonly<Record<string, { about: string; run: (args: readonly string[]) => Promise<void> }>> = {
  overhead: {
    about: "CPU time per request of this worker against a pass-through worker, in one run (about a minute)",
    run: overhead,
  },
};

const [name = "list", ...args] = process.argv.slice(2);
const experiment = Object.hasOwn(EXPERIMENTS, name) ? EXPERIMENTS[name] : undefined;
if (experiment !== undefined) await runMain(() => experiment.run(args));
else {
  if (name !== "list") {
    console.error(`There is no experiment ${name}. These are known:`);
    process.exitCode = 2;
  }
  for (const [known, { about }] of Object.entries(EXPERIMENTS)) console.log(`${known.padEnd(12)}${about}`);
}
