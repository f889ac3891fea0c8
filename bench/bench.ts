import { runMain } from "../base/run-main.ts";
import { LOAD_OPTIONS } from "./harness/loads/options.ts";
import { commonOptions, listExperiments, runExperiment } from "./harness/run.ts";
import { optionsText } from "./model/options.ts";

interface Command {
  readonly about: string;
  run(args: readonly string[]): Promise<void>;
}

/** What `npm run bench -- <name>` can run beside the experiments, which are the folders of bench/experiments. */
const COMMANDS: Readonly<Record<string, Command>> = {
  calibrate: {
    about: "turns rows of `senders` into policies for this server",
    run: async (args) => (await import("./analysis/calibrate/command.ts")).calibrateCommand(args),
  },
  "draw-clients": {
    about: "draws the clients that `clients` and `browser-clients` measure from a population",
    run: async (args) => (await import("./analysis/population/draw.ts")).drawClientsCommand(args),
  },
  population: {
    about: "every policy on the clients of `clients`: no root, a minute",
    run: async (args) => (await import("./analysis/population/population-command.ts")).populationCommand(args),
  },
  "how-it-decides": {
    about: "writes docs/how-it-decides.md, with the gain table of a shipped policy and a decision by it",
    run: async () => (await import("./pages/how-it-decides.ts")).writePage(),
  },
};

const [name = "list", ...args] = process.argv.slice(2);
const commands = new Map<string, Command>([
  ...[...listExperiments()].map(([known, about]): [string, Command] => [
    known,
    { about, run: (given) => runExperiment(known, given) },
  ]),
  ...Object.entries(COMMANDS),
]);
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
