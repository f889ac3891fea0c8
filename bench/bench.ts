import { runMain } from "../base/run-main.ts";
import { calibrateCommand } from "./analysis/calibrate/command.ts";
import { drawClientsCommand } from "./analysis/population/command.ts";
import { populationCommand } from "./analysis/population/population-command.ts";
import { LOAD_OPTIONS } from "./harness/loads/options.ts";
import { commonOptions, findExperiments, runExperiment } from "./harness/run.ts";
import { optionsText } from "./model/options.ts";
import { writePages } from "./pages/write-pages.ts";

/** What `npm run bench -- <name>` can run beside the experiments, which are the folders of bench/experiments. */
const COMMANDS = {
  calibrate: { about: "turns rows of `senders` into policies for this server", run: calibrateCommand },
  "draw-clients": { about: "draws the clients that `clients` measures from a population", run: drawClientsCommand },
  population: { about: "every policy on the clients of `clients`: no root, a minute", run: populationCommand },
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
