import { UserError } from "../../../base/user-error.ts";
import { startLab } from "../../lab/lab.ts";
import { buildLab, buildQuiche } from "../../lab/programs.ts";
import { ARM_SETUPS, type Quic } from "../../model/arm.ts";
import { armsOf, type LoadExperiment, type LoadOptions, withRounds } from "../../model/load-experiment.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { type OptionsOf, readOptions } from "../../model/options.ts";
import { defineExperiment, type Experiment, type Recorded, type Report } from "../experiment.ts";
import { unlessItFails } from "../unless-it-fails.ts";
import { reportHead } from "./head.ts";
import { LOAD_OPTIONS, loadOptions } from "./options.ts";
import type { LoadsRecorded } from "./recorded.ts";
import { runCells } from "./runner.ts";
import { nextLoads } from "./schedule.ts";
import { readWindows } from "./windows.ts";
import { WorkDone } from "./work-done.ts";

type Given = OptionsOf<typeof LOAD_OPTIONS>;

/** What is special about an experiment made of loads. */
export interface LoadsDefinition<Summary extends object> {
  /** Networks, arms, flows and when it is enough, as data. */
  plan(options: LoadOptions): LoadExperiment;
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
  const defined = defineExperiment({
    about: definition.plan(loadOptions(readOptions([], LOAD_OPTIONS))).about,
    options: LOAD_OPTIONS,
    row: LOAD_ROW,
    question: (given) => {
      const { timeoutMs, loads, cells } = planned(definition, given);
      const { seed, switch: switching, quic } = given;
      // Runs that were recorded before there was another QUIC name none.
      return { seed, switch: switching, ...(quic !== "quic-go" && { quic }), timeoutMs, loads, cells };
    },
    done: (given, rows) => {
      const experiment = planned(definition, given);
      const forgiven = forgivenIn(given, rows);
      const work = new WorkDone(experiment, lanesFor(experiment, given));
      const byCell = Map.groupBy(rows, ({ cell }) => cell);
      const isMissing = experiment.cells.map((cell) => {
        const own = byCell.get(cell.id) ?? [];
        const isOpen = nextLoads(experiment, cell, own, given.seed, forgiven).length > 0;
        work.update(cell, own.length, !isOpen);
        return isOpen;
      });
      return isMissing.includes(true) ? Math.min(work.share(), 0.999) : 1;
    },
    lanes: (given) => lanesFor(planned(definition, given), given),
    prepare: async (given) => {
      await buildLab();
      const arms = armsOf(planned(definition, given));
      if (given.quic !== "quic-go" || arms.some((arm) => ARM_SETUPS[arm].quic !== undefined)) await buildQuiche();
      return undefined;
    },
    measure: async ({ options: given, folder, signal, progress }) => {
      const experiment = planned(definition, given);
      const forgiven = forgivenIn(given, folder.rows);
      const lab = await startLab({
        arms: armsOf(experiment),
        lanes: lanesFor(experiment, given),
        quic: given.quic,
        isTraced: experiment.cells.some(({ isTraced }) => isTraced === true),
        setsCubic: experiment.cells.some(({ tcp }) => tcp?.cubic !== undefined),
      });
      const { seed, switch: switching } = given;
      try {
        await unlessItFails(lab.failed, signal, (either) =>
          runCells({ experiment, lab, folder, seed, switching, forgiven, signal: either, progress }),
        );
      } finally {
        await lab.stop();
      }
    },
    summarise: (recorded) => definition.summarise(loadsOf(definition, recorded)),
    report: (summary, recorded) => {
      const loads = loadsOf(definition, recorded);
      const { values, pictures = [] } = definition.report(summary, loads);
      return { values: { head: reportHead(loads), ...values }, pictures };
    },
  });
  return { ...defined, definition };
}

/** The experiment that these options ask for. @throws UserError where it has no such QUIC */
function planned(definition: Pick<LoadsDefinition<object>, "plan">, given: Given): LoadExperiment {
  const options = loadOptions(given);
  const made = definition.plan(options);
  const { quic, runs } = options;
  if (quic !== "quic-go" && made.takesQuic !== true)
    throw new UserError(
      "--quic is for calibration and ohashi-evaluation: the others are served by quic-go, or have arms of their own.",
    );
  const asked = runs === undefined ? made : withRounds(made, runs);
  return quic === "quic-go" ? asked : { ...asked, notes: [QUIC_NOTES[quic], ...asked.notes] };
}

const QUIC_NOTES: Readonly<Record<Exclude<Quic, "quic-go">, string>> = {
  "quiche-cubic": quicNote("cubic"),
  "quiche-bbr2": quicNote("BBRv2"),
};

function quicNote(name: string): string {
  return `HTTP/3 is served by Cloudflare's quiche with its ${name}, and not by quic-go: bench/instrument/quiche. It answers without worker and origin, which HTTP/2 has behind it.`;
}

function forgivenIn({ retry }: Given, rows: readonly LoadRow[]): ReadonlySet<string> {
  return new Set(retry ? rows.map(({ id }) => id) : []);
}

function lanesFor({ cells }: LoadExperiment, { lanes }: Given): number {
  return Math.min(lanes, cells.length);
}

function loadsOf(
  definition: Pick<LoadsDefinition<object>, "plan">,
  { options, path, ...recorded }: Recorded<Given, LoadRow>,
): LoadsRecorded {
  return {
    ...recorded,
    experiment: planned(definition, options),
    windows: readWindows(path, recorded.rows),
    seed: options.seed,
    quic: options.quic,
  };
}
