import { join } from "node:path";
import { UserError } from "../../../base/user-error.ts";
import { buildLab, buildQuiche } from "../../lab/programs.ts";
import { ARM_SETUPS, type Quic } from "../../model/arm.ts";
import { armsOf, type LoadExperiment, type LoadOptions, withRounds } from "../../model/load-experiment.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import type { OptionsOf } from "../../model/options.ts";
import type { Experiment, Recorded, Report } from "../experiment.ts";
import { inLab } from "../in-lab.ts";
import { openRows } from "../run-folder.ts";
import { reportHead } from "./head.ts";
import { LOAD_OPTIONS, loadOptions } from "./options.ts";
import type { LoadsRecorded } from "./recorded.ts";
import { runCells } from "./runner.ts";
import { readWindows, WINDOW_POINT, WINDOWS_FILE } from "./windows.ts";
import { Work } from "./schedule.ts";

type Given = OptionsOf<typeof LOAD_OPTIONS>;

/** What is special about an experiment made of loads. */
export interface LoadsDefinition<Summary extends object> {
  /** Networks, arms, flows and when it is enough, as data. */
  plan(options: LoadOptions): LoadExperiment;
  /** Beside what every summary begins with: the experiment, the command, the starts, the number of rows. */
  summarise(recorded: LoadsRecorded): Summary;
  /** The values of report.md, beside `head`, which says what was run. */
  report(summary: Summary, recorded: LoadsRecorded): Report;
}

/** With what is special about it, for tests. */
export type LoadsExperiment<Summary extends object> = Experiment<typeof LOAD_OPTIONS, typeof LOAD_ROW, Summary> & {
  readonly definition: LoadsDefinition<Summary>;
};

/** An experiment that loads pages over emulated networks: k6 sessions in lanes, as many as its answer takes. */
export function defineLoads<Summary extends object>(definition: LoadsDefinition<Summary>): LoadsExperiment<Summary> {
  const planned = (given: Given): LoadExperiment => plan(definition, given);
  const lanes = (given: Given): number => Math.min(given.lanes, planned(given).cells.length);
  const loadsOf = ({ options, path, ...recorded }: Recorded<Given, LoadRow>): LoadsRecorded => ({
    ...recorded,
    experiment: planned(options),
    windows: readWindows(path, recorded.rows),
    seed: options.seed,
    quic: options.quic,
  });
  return {
    definition,
    options: LOAD_OPTIONS,
    row: LOAD_ROW,
    question: (given) => {
      const { seed, quic } = given;
      const { timeoutMs, loads, cells, switch: how = "background" } = planned(given);
      // Runs that were recorded before there was another QUIC name none.
      return { seed, switch: how, ...(quic !== "quic-go" && { quic }), timeoutMs, loads, cells };
    },
    done: (given, rows) => new Work(planned(given), rows, given.seed, lanes(given)).share(),
    lanes,
    prepare: async (given) => {
      await buildLab();
      const isOwn = armsOf(planned(given)).some((arm) => ARM_SETUPS[arm].quic !== undefined);
      if (given.quic !== "quic-go" || isOwn) await buildQuiche();
      return undefined;
    },
    measure: async ({ options: given, folder, signal, progress }) => {
      const experiment = planned(given);
      const isTraced = experiment.cells.some((cell) => cell.isTraced === true);
      const windows = isTraced ? openRows(join(folder.path, WINDOWS_FILE), WINDOW_POINT) : undefined;
      const setsCubic = experiment.cells.some(({ tcp }) => tcp?.cubic !== undefined);
      const asked = { arms: armsOf(experiment), lanes: lanes(given), quic: given.quic, isTraced, setsCubic };
      const { seed } = given;
      try {
        await inLab(asked, signal, (lab, _, either) =>
          runCells({ experiment, lab, rows: folder, windows, seed, signal: either, progress }),
        );
      } finally {
        windows?.close();
      }
    },
    summarise: (recorded) => {
      const { name, command, starts, rows } = recorded;
      return { experiment: name, command, starts, rows: rows.length, ...definition.summarise(loadsOf(recorded)) };
    },
    report: (summary, recorded) => {
      const loads = loadsOf(recorded);
      const { values, pictures = [] } = definition.report(summary, loads);
      return { values: { head: reportHead(loads), ...values }, pictures };
    },
  };
}

/** The experiment that these options ask for. @throws UserError where it has no such QUIC */
function plan(definition: Pick<LoadsDefinition<object>, "plan">, given: Given): LoadExperiment {
  const { quic, runs, quick } = given;
  // A quick run shows whether all is made, not how long it takes: on a busy machine too, once is enough.
  const made = { ...definition.plan(loadOptions(given)), ...(quick && { attemptsPerRow: 1 }) };
  const asked = runs === undefined ? made : withRounds(made, runs);
  if (quic === "quic-go") return asked;
  if (made.takesQuic !== true)
    throw new UserError(
      "--quic is for ohashi-evaluation: the others are served by quic-go, or have arms of their own.",
    );
  return {
    ...asked,
    notes: [
      `HTTP/3 is served by Cloudflare's quiche with its ${QUICHE_CONGESTIONS[quic]}, and not by quic-go: bench/instrument/quiche. It answers without worker and origin, which HTTP/2 has behind it.`,
      ...asked.notes,
    ],
  };
}

const QUICHE_CONGESTIONS: Readonly<Record<Exclude<Quic, "quic-go">, string>> = {
  "quiche-cubic": "cubic",
  "quiche-bbr2": "BBRv2",
};
