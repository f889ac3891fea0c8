import { seededRandom, shuffle } from "../../analysis/statistics/random.ts";
import { median } from "../../analysis/statistics/summary.ts";
import { defineExperiment } from "../../harness/experiment.ts";
import { unlessItFails } from "../../harness/in-lab.ts";
import { makeMissing, shareMade } from "../../harness/missing.ts";
import { caddyVersion, findCaddy } from "../../lab/caddy.ts";
import {
  buildLoopback,
  canRun,
  LOOPBACK_ARMS,
  type LoopbackArm,
  startLoopbackSystem,
} from "../../lab/loopback-system.ts";
import { findNginx, findNginxJs, nginxJsVersion, nginxVersion } from "../../lab/nginx.ts";
import { runRequests } from "../../lab/request-load.ts";
import { flag, type OptionsOf, wholeNumber } from "../../model/options.ts";
import { LOOPS, type Size, SIZES } from "../../model/request-plan.ts";
import {
  CLIENTS,
  LOOPBACK_COLUMNS,
  type LoopbackRow,
  measurementId,
  OPEN_LOAD_RATIO,
  overheadReport,
  SEED,
  type Subject,
  SUBJECTS,
  summarizeLoopback,
  WARM_SECONDS,
} from "./report.ts";

const OPTIONS = {
  rounds: wholeNumber("how often each load is measured (9)", [1, 1_000], undefined),
  seconds: wholeNumber("seconds that each takes (2)", [1, 600], undefined),
  quick: flag("2 rounds of 0.5 s: whether it works"),
};

type Given = OptionsOf<typeof OPTIONS>;

function settingsOf({ rounds, seconds, quick }: Given) {
  return { rounds: rounds ?? (quick ? 2 : 9), seconds: seconds ?? (quick ? 0.5 : 2) };
}

function subjectsHere(): Subject[] {
  return SUBJECTS.filter(({ arm }) => canRun(arm));
}

function armsHere(): LoopbackArm[] {
  return [...new Set(subjectsHere().map(({ arm }) => arm))];
}

function plan(given: Given) {
  return measurements(subjectsHere(), settingsOf(given).rounds);
}

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; through nginx, alone and with a decision by njs; and through Caddy. Each round starts every program anew,
 * and has every subject once in a closed loop and once in an open one, on the loopback.
 */
export const experiment = defineExperiment({
  options: OPTIONS,
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
    const [nginx, njs, caddy] = [findNginx(), findNginxJs(), findCaddy()];
    for (const [name, found] of Object.entries({ nginx, "njs for nginx": njs, Caddy: caddy }))
      if (found === undefined)
        console.error(`There is no ${name} here and it cannot be installed: its arm is left out.`);
    return {
      nginx: nginx === undefined ? null : nginxVersion(nginx),
      njs: njs === undefined ? null : nginxJsVersion(),
      caddy: caddy === undefined ? null : caddyVersion(caddy),
    };
  },
  measure: async (run) => {
    const { options, folder, progress } = run;
    const { seconds } = settingsOf(options);
    const all = plan(options);
    type System = Awaited<ReturnType<typeof startLoopbackSystem>>;
    /** Undefined where it was interrupted. @param earlier counts the arm's measurements since its start: each has clients of its own @throws UserError */
    const measure = async (
      { arms, originPid }: System,
      { id, loop, round, subject: { size, arm } }: (typeof all)[number],
      earlier: number,
      signal: AbortSignal,
    ) => {
      const processes = arms.get(arm);
      if (processes === undefined) throw new Error(`${arm} does not run.`);
      const rate = loop === "open" ? openRate(folder.rows, size) : null;
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
        run: earlier,
        ...processes,
        originPid,
        signal,
      });
      return counted && [{ id, loop, size, round, arm, startedMs, clients, rate, ...counted }];
    };
    // Two starts of the same programs differ by more than one start's measurements do: every round has its own.
    for (const round of Map.groupBy(all, (measurement) => measurement.round).values()) {
      if (run.signal.aborted || shareMade(round, folder.rows) === 1) continue;
      const system = await startLoopbackSystem(armsHere());
      const runs = new Map<LoopbackArm, number>();
      const next = (measurement: (typeof all)[number], signal: AbortSignal) => {
        const earlier = runs.get(measurement.subject.arm) ?? 0;
        runs.set(measurement.subject.arm, earlier + 1);
        return measure(system, measurement, earlier, signal);
      };
      try {
        await unlessItFails(system.failed, run.signal, async (signal) => {
          // Some that do not count: they make code and caches warm.
          const warm = round.filter(({ loop }) => loop === "closed");
          for (const measurement of warm) if (!signal.aborted) await next(measurement, signal);
          const overall = { show: (_: number, id: string) => progress.show(shareMade(all, folder.rows), id) };
          await makeMissing(round, { folder, signal, progress: overall }, (measurement) => next(measurement, signal));
        });
      } finally {
        await system.stop();
      }
    }
  },
  summarise: (recorded) => summarizeLoopback(settingsOf(recorded.options), recorded),
  report: overheadReport,
});

/**
 * All measurements of a run. Each round has the closed loops first: the first round's say how fast the open ones may be. A loop has
 * both sizes in random order, and every subject of a size in random order. An order is the round's own, so that a run goes
 * on where another stopped.
 */
export function measurements(subjects: readonly Subject[], rounds: number) {
  const groups = [...Map.groupBy(subjects, ({ size }) => size).values()];
  return Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
    LOOPS.flatMap((loop) => {
      const random = seededRandom(SEED, "subjects", loop, round);
      return shuffle(groups, random)
        .flatMap((group) => shuffle(group, random))
        .map((subject) => ({ id: measurementId(loop, subject.name, round), loop, subject, round }));
    }),
  );
}

/** Requests per second of a size's open loops. Once a row has it, it stays, also in later rounds. */
export function openRate(rows: readonly LoopbackRow[], size: Size): number {
  const own = rows.filter((row) => row.size === size);
  const given = own.find(({ loop, rate }) => loop === "open" && rate !== null)?.rate;
  if (given !== undefined && given !== null) return given;
  const closed = Map.groupBy(
    own.filter(({ loop }) => loop === "closed"),
    ({ arm }) => arm,
  );
  const speeds = [...closed.values()].map((some) => median(some.map(({ requestsPerSecond }) => requestsPerSecond)));
  return Math.max(1, Math.round(OPEN_LOAD_RATIO * Math.min(...speeds)));
}
