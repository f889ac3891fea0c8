import {
  buildLoopback,
  type LoopbackArm,
  type LoopbackSystem,
  startLoopbackSystem,
} from "../../lab/loopback-system.ts";
import { findNginx, nginxVersion } from "../../lab/nginx.ts";
import { runRequests } from "../../lab/request-load.ts";
import { decimal, flag, type OptionsOf, wholeNumber } from "../../model/options.ts";
import type { RowSchema } from "../../model/row-schema.ts";
import { defineExperiment, type Experiment, type Report } from "../experiment.ts";
import { makeMissing, shareMade } from "../missing.ts";
import type { Asked } from "../run-folder.ts";
import { unlessItFails } from "../in-lab.ts";
import {
  type LoopbackColumns,
  type LoopbackRow,
  type Measurement,
  measurements,
  openRate,
  SEED,
  type Subject,
} from "./plan.ts";
import { headValues } from "./report.ts";
import { type LoopbackSummary, summarizeLoopback } from "./summary.ts";

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
const WARM_SECONDS = 1.5;

/** What is special about an experiment that sends requests to servers on the loopback. */
export interface LoopbackDefinition {
  readonly row: LoopbackColumns & RowSchema;
  readonly subjects: readonly Subject[];
  /** How long each measurement takes, and with --quick, if nothing is asked. */
  readonly seconds: number;
  readonly quickSeconds: number;
  /** An open loop asks for so much of what the slowest subject of its group did in the closed one. */
  readonly openLoadRatio: number;
  /** What decides beside seed and seconds which rows belong together. */
  question(subjects: readonly Subject[]): Asked;
  /** The values of report.md, beside those of every loopback experiment. */
  report(summary: LoopbackSummary): Report;
}

export function loopbackOptions({ seconds, quickSeconds }: Pick<LoopbackDefinition, "seconds" | "quickSeconds">) {
  return {
    rounds: wholeNumber("how often each load is measured (9)", [1, 1_000], undefined),
    seconds: decimal("S", `how long each time (${seconds})`, [0.1, 600], undefined),
    quick: flag(`2 rounds of ${quickSeconds} s: whether it works`),
  };
}

type LoopbackOptions = ReturnType<typeof loopbackOptions>;

/** An experiment of rounds: in each every subject once, in a closed loop and in an open one. */
export function defineLoopback(
  definition: LoopbackDefinition,
): Experiment<LoopbackOptions, LoopbackColumns, LoopbackSummary> {
  const { row, subjects, openLoadRatio } = definition;
  const settingsOf = ({ rounds, seconds, quick }: OptionsOf<LoopbackOptions>) => ({
    rounds: rounds ?? (quick ? 2 : 9),
    seconds: seconds ?? (quick ? definition.quickSeconds : definition.seconds),
  });
  const subjectsHere = (): Subject[] => subjects.filter(({ arm }) => arm !== "nginx" || findNginx() !== undefined);
  const plan = (given: OptionsOf<LoopbackOptions>): Measurement[] =>
    measurements(subjectsHere(), settingsOf(given).rounds);
  return defineExperiment({
    options: loopbackOptions(definition),
    row,
    question: (given) => ({
      seed: SEED,
      seconds: settingsOf(given).seconds,
      warmSeconds: WARM_SECONDS,
      ...definition.question(subjectsHere()),
    }),
    done: (given, rows) => shareMade(plan(given), rows),
    prepare: async () => {
      await buildLoopback();
      if (!subjects.some(({ arm }) => arm === "nginx")) return undefined;
      const nginx = findNginx();
      if (nginx === undefined) console.error("There is no nginx here and it cannot be installed: its arm is left out.");
      return { nginx: nginx === undefined ? null : nginxVersion(nginx) };
    },
    measure: async (run) => {
      const { options, folder } = run;
      const { seconds } = settingsOf(options);
      const all = plan(options);
      const runs = new Map<LoopbackArm, number>();
      const system = await startLoopbackSystem([...new Set(subjectsHere().map(({ arm }) => arm))]);
      const measure = (measurement: Measurement, signal: AbortSignal) => {
        const { loop, subject } = measurement;
        const earlier = runs.get(subject.arm) ?? 0;
        runs.set(subject.arm, earlier + 1);
        const group = subjects.filter((one) => one.group === subject.group);
        const rate = loop === "open" ? openRate(folder.rows, group, openLoadRatio) : null;
        return measureSubject({ measurement, system, rate, seconds, run: earlier, signal });
      };
      try {
        await unlessItFails(system.failed, run.signal, async (signal) => {
          // Some that do not count: they make code and caches warm.
          const warm = all.filter(({ loop, round }) => loop === "closed" && round === 0);
          for (const measurement of warm) if (!signal.aborted) await measure(measurement, signal);
          await makeMissing(all, { ...run, signal }, (measurement) => measure(measurement, signal));
        });
      } finally {
        await system.stop();
      }
    },
    summarise: (recorded) => summarizeLoopback(subjects, settingsOf(recorded.options), recorded),
    report: (summary) => {
      const { values, pictures = [] } = definition.report(summary);
      return {
        values: { ...headValues(summary), warmSeconds: WARM_SECONDS, openLoad: openLoadRatio * 100, ...values },
        pictures,
      };
    },
  });
}

/** Makes one measurement. Undefined where it was interrupted. @throws UserError */
async function measureSubject(options: {
  readonly measurement: Measurement;
  readonly system: LoopbackSystem;
  /** Requests per second; null in a closed loop. */
  readonly rate: number | null;
  readonly seconds: number;
  /** Counts the arm's measurements: each has clients of its own. */
  readonly run: number;
  readonly signal: AbortSignal;
}): Promise<readonly LoopbackRow[] | undefined> {
  const { measurement, system, rate, seconds, run, signal } = options;
  const { id, loop, subject, round } = measurement;
  const { clients, columns, request } = subject;
  const { path, ...asked } = request;
  const arm = system.arms.get(subject.arm);
  if (arm === undefined) throw new Error(`${subject.arm} does not run.`);
  const startedMs = Date.now();
  const counted = await runRequests({
    name: id,
    plan: { ...asked, url: `${arm.url}${path}`, loop, clients, rate: rate ?? 0, warmSeconds: WARM_SECONDS, seconds },
    run,
    ...arm,
    originPid: system.originPid,
    signal,
  });
  return counted && [{ id, loop, round, ...columns, startedMs, clients, rate, ...counted }];
}
