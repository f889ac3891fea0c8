import { runMain } from "../base/run-main.ts";
import { calibrateCommand } from "./analysis/calibrate/command.ts";
import { equivalenceCommand } from "./analysis/equivalence/command.ts";
import { fieldStatisticsCommand } from "./analysis/field-statistics/command.ts";
import { learningCommand } from "./analysis/learning/command.ts";
import { drawClientsCommand } from "./analysis/population/command.ts";
import { populationCommand } from "./analysis/population/population-command.ts";
import { sharedAddressCommand } from "./analysis/shared-address/command.ts";
import { LOAD_OPTIONS } from "./harness/loads/options.ts";
import { commonOptions, findExperiments, runExperiment } from "./harness/run.ts";
import { optionsText } from "./model/options.ts";
import { writePages } from "./pages/write-pages.ts";

/** What `npm run bench -- <name>` can run beside the experiments, which are the folders of bench/experiments. */
const COMMANDS = {
  calibrate: { about: "turns rows of `senders` into policies for this server", run: calibrateCommand },
  "draw-clients": { about: "draws the clients that `clients` measures from a population", run: drawClientsCommand },
  equivalence: {
    about: "whether k6's client does with an offer what Chromium does: two runs of `offers`",
    run: equivalenceCommand,
  },
  "field-statistics": {
    about: "whether intervals of visitors' outcomes hold what they promise: a simulation, 10 minutes",
    run: async (args: readonly string[]): Promise<void> => fieldStatisticsCommand(args),
  },
  learning: {
    about: "what a policy learns from the clients of `clients`, from nothing and from a wrong table: no root, minutes",
    run: async (args: readonly string[]): Promise<void> => learningCommand(args),
  },
  population: { about: "every policy on the clients of `clients`: no root, a minute", run: populationCommand },
  "shared-address": {
    about: "what pauses of offers cost an address with many browsers: a simulation, a minute",
    run: async (args: readonly string[]): Promise<void> => sharedAddressCommand(args),
  },
  results: { about: "docs/results.md, of what was recorded: published beside measured", run: writePages },
};

const [name = "list", ...args] = process.argv.slice(2);
const experiments = [...(await findExperiments())].map(([known, experiment]) => {
  const run = (given: readonly string[]): Promise<void> => runExperiment(known, experiment, given);
  return [known, { about: experiment.about, run }] as const;
});
const commands = new Map([...experiments, ...Object.entries(COMMANDS)]);
const command = commands.get(name);
if (command !== undefined) await runMain(() => command.run(args));
else {
  const print = name === "list" ? console.log : console.error;
  if (name !== "list") {
    print(`There is no experiment ${name}. These are known:`);
    process.exitCode = 2;
  }
  for (const [known, { about }] of commands) print(`  ${known.padEnd(20)} ${about}`);
  const options = { ...LOAD_OPTIONS, ...commonOptions("<experiment>") };
  print(`\nOptions of the experiments that load pages:\n${optionsText(options)}`);
}
