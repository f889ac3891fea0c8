import { runMain } from "../base/run-main.ts";
import { apiLoad } from "./experiments/api-load/api-load.ts";
import { browserPage } from "./experiments/browser-page/browser-page.ts";
import { calibrateCommand } from "./analysis/calibrate/command.ts";
import { crossCheck } from "./experiments/cross-check/cross-check.ts";
import { EXPERIMENTS } from "./experiments/list.ts";
import { decideCost } from "./experiments/decide-cost/decide-cost.ts";
import { fidelity } from "./experiments/fidelity/command.ts";
import { memory } from "./experiments/memory/memory.ts";
import { overhead } from "./experiments/overhead/overhead.ts";
import { pathChange } from "./experiments/path-change/path-change.ts";
import { OPTIONS_TEXT, readOptions } from "./harness/loads/options.ts";
import { writeResultsPage } from "./pages/write-results-page.ts";
import { replayCommand } from "./analysis/replay/command.ts";
import { runExperiment } from "./harness/loads/run-experiment.ts";

/** What `npm run bench -- <experiment>` can run. */
interface Command {
  readonly about: string;
  run(args: readonly string[]): Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  ...Object.fromEntries(
    Object.entries(EXPERIMENTS).map(([name, make]) => [
      name,
      {
        about: make(readOptions([])).about,
        run: (args: readonly string[]) => runExperiment(name, make, args),
      },
    ]),
  ),
  calibrate: { about: "turns rows of `calibration` into policies for this server", run: calibrateCommand },
  replay: { about: "every policy on the recorded loads: no network, no root, seconds", run: replayCommand },
  results: { about: "docs/results.md, of what was recorded: published beside measured", run: writeResultsPage },
  fidelity: { about: "the emulated network against what was asked of it, by probes of its own", run: fidelity },
  "cross-check": { about: "a second, independent client beside ours, over the same path", run: crossCheck },
  "path-change": { about: "how fast the adaptive arm follows a path that changes (half an hour)", run: pathChange },
  "decide-cost": {
    about: "what a decision costs, beside a plain look-up: no network, no root, seconds",
    run: decideCost,
  },
  "browser-page": {
    about: "a real browser over HTTP/2 and HTTP/3: page load and LCP, first and repeated visits (40 minutes)",
    run: browserPage,
  },
  memory: {
    about: "what connections take of the edge, the kernel and the clients, over both protocols (10 minutes)",
    run: memory,
  },
  overhead: {
    about:
      "what a request costs: the edge alone, with a worker that passes on, with this worker, and nginx (15 minutes)",
    run: overhead,
  },
  "api-load": {
    about: "what calls of the policy's API cost visitors of the same worker, and what decisions cost (12 minutes)",
    run: apiLoad,
  },
};

const [name = "list", ...args] = process.argv.slice(2);
const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
if (command !== undefined) await runMain(() => command.run(args));
else {
  const print = name === "list" ? console.log : console.error;
  if (name !== "list") {
    print(`There is no experiment ${name}. These are known:`);
    process.exitCode = 2;
  }
  for (const [known, { about }] of Object.entries(COMMANDS)) print(`  ${known.padEnd(20)} ${about}`);
  print(`\nOptions of the experiments that load pages:\n${OPTIONS_TEXT}`);
}
