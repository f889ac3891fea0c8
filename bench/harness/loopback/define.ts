import {
  buildLoopback,
  LOOPBACK_ARMS,
  type LoopbackArm,
  type LoopbackSystem,
  startLoopbackSystem,
} from "../../lab/loopback-system.ts";
import { findNginx, nginxVersion } from "../../lab/nginx.ts";
import { runRequests } from "../../lab/request-load.ts";
import { flag, type OptionsOf, wholeNumber } from "../../model/options.ts";
import { SIZES } from "../../model/request-plan.ts";
import type { Experiment, Report } from "../experiment.ts";
import { unlessItFails } from "../in-lab.ts";
import { makeMissing, shareMade } from "../missing.ts";
import {
  CLIENTS,
  LOOPBACK_COLUMNS,
  type LoopbackRow,
  type Measurement,
  measurements,
  OPEN_LOAD_RATIO,
  openRate,
  SEED,
  type Subject,
  SUBJECTS,
} from "./plan.ts";
import { headValues } from "./report.ts";
import { type LoopbackSummary, summarizeLoopback } from "./summary.ts";

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
const WARM_SECONDS = 1.5;

export const LOOPBACK_OPTIONS = {
  rounds: wholeNumber("how often each load is measured (9)", [1, 1_000], undefined),
  seconds: wholeNumber("seconds that each takes (2)", [1, 600], undefined),
  quick: flag("2 rounds of 0.5 s: whether it works"),
};

type Given = OptionsOf<typeof LOOPBACK_OPTIONS>;

function settingsOf({ rounds, seconds, quick }: Given) {
  return { rounds: rounds ?? (quick ? 2 : 9), seconds: seconds ?? (quick ? 0.5 : 2) };
}

function subjectsHere(): Subject[] {
  return SUBJECTS.filter(({ arm }) => arm !== "nginx" || findNginx() !== undefined);
}

function armsHere(): LoopbackArm[] {
  return [...new Set(subjectsHere().map(({ arm }) => arm))];
}

function plan(given: Given): Measurement[] {
  return measurements(subjectsHere(), settingsOf(given).rounds);
}

/**
 * An experiment of rounds of requests to servers on the loopback: in each every subject once, in a closed loop and in an open one.
 *
 * @param report the values of report.md, beside those that the loads themselves have
 */
export function defineLoopback(
  report: (summary: LoopbackSummary) => Report,
): Experiment<typeof LOOPBACK_OPTIONS, typeof LOOPBACK_COLUMNS, LoopbackSummary> {
  return {
    options: LOOPBACK_OPTIONS,
    row: LOOPBACK_COLUMNS,
    question: (given) => ({
      seed: SEED,
      seconds: settingsOf(given).seconds,
      warmSeconds: WARM_SECONDS,
      sizes: SIZES,
      clients: CLIENTS,
      arms: armsHere(),
    }),
    done: (given, rows) => shareMade(plan(given), rows),
    prepare: async () => {
      await buildLoopback();
      const nginx = findNginx();
      if (nginx === undefined) console.error("There is no nginx here and it cannot be installed: its arm is left out.");
      return { nginx: nginx === undefined ? null : nginxVersion(nginx) };
    },
    measure: async (run) => {
      const { options, folder } = run;
      const { seconds } = settingsOf(options);
      const all = plan(options);
      const runs = new Map<LoopbackArm, number>();
      const system = await startLoopbackSystem(armsHere());
      const measure = (measurement: Measurement, signal: AbortSignal) => {
        const { size, arm } = measurement.subject;
        const earlier = runs.get(arm) ?? 0;
        runs.set(arm, earlier + 1);
        const rate = measurement.loop === "open" ? openRate(folder.rows, size) : null;
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
    summarise: (recorded) => summarizeLoopback(settingsOf(recorded.options), recorded),
    report: (summary) => {
      const { values, pictures = [] } = report(summary);
      return {
        values: { ...headValues(summary), warmSeconds: WARM_SECONDS, openLoad: OPEN_LOAD_RATIO * 100, ...values },
        pictures,
      };
    },
  };
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
  const { id, loop, round, subject } = measurement;
  const { size, arm } = subject;
  const processes = system.arms.get(arm);
  if (processes === undefined) throw new Error(`${arm} does not run.`);
  const { secFetchDest, offers } = LOOPBACK_ARMS[arm];
  const [bodyBytes, clients] = [SIZES[size], CLIENTS[size]];
  const startedMs = Date.now();
  const counted = await runRequests({
    name: id,
    plan: {
      url: `${processes.url}/image/${bodyBytes}`,
      headers: { "Sec-Fetch-Dest": secFetchDest },
      offers,
      bodyBytes,
      loop,
      clients,
      rate: rate ?? 0,
      warmSeconds: WARM_SECONDS,
      seconds,
    },
    run,
    ...processes,
    originPid: system.originPid,
    signal,
  });
  return counted && [{ id, loop, size, round, arm, startedMs, clients, rate, ...counted }];
}
