import { buildEdge, buildWorker } from "../../infra/setup/build.ts";
import type { OverheadArm } from "../lab/loopback-arms.ts";
import { type LoopbackSystem, startLoopbackSystem } from "../lab/loopback-system.ts";
import { buildK6 } from "../lab/programs.ts";
import { decimal, flag, type OptionSchema, type OptionsOf, wholeNumber } from "../model/options.ts";
import type { Run } from "./experiment.ts";
import { unlessItFails } from "./unless-it-fails.ts";

// What experiments share that send requests at a rate to servers on the loopback: their options, and one measurement after
// another.

/** How long each measurement takes where nothing is asked. */
export interface RequestDefaults {
  readonly seconds: number;
  readonly quickSeconds: number;
}

export function requestOptions({ seconds, quickSeconds }: RequestDefaults) {
  return {
    rounds: wholeNumber("how often each load is measured (9)", [1, 1_000], undefined),
    seconds: decimal("S", `how long each time (${seconds})`, [0.1, 600], undefined),
    seed: wholeNumber("what orders and resamples are drawn from (1)", [0, 2 ** 31 - 1], 1),
    quick: flag(`2 rounds of ${quickSeconds} s: whether it works`),
  } as const satisfies OptionSchema;
}

export interface Rounds {
  readonly rounds: number;
  readonly seconds: number;
  readonly seed: number;
}

export function roundsOf(given: OptionsOf<ReturnType<typeof requestOptions>>, defaults: RequestDefaults): Rounds {
  const { rounds, seconds, seed, quick } = given;
  return {
    rounds: rounds ?? (quick ? 2 : 9),
    seconds: seconds ?? (quick ? defaults.quickSeconds : defaults.seconds),
    seed,
  };
}

export async function buildLoopback(): Promise<void> {
  await buildWorker();
  await buildEdge();
  await buildK6();
}

interface Measurement {
  readonly id: string;
}

/** The share of the measurements that have a row. */
export function shareMeasured(all: readonly Measurement[], rows: readonly { readonly id: string }[]): number {
  const made = new Set(rows.map(({ id }) => id));
  return all.filter(({ id }) => made.has(id)).length / all.length;
}

/**
 * Makes the measurements that have no row, one after another, after some that only make code and caches warm.
 *
 * @throws UserError where a program ends, or a measurement fails
 */
export async function measureRequests<Measured extends Measurement, Row extends { readonly id: string }>(
  { folder, signal, progress }: Run<unknown, Row>,
  work: {
    readonly arms: readonly OverheadArm[];
    readonly nginx: string | undefined;
    readonly warm: readonly Measured[];
    readonly all: readonly Measured[];
    /** Its rows, that of the measurement last; undefined where it was interrupted. */
    readonly measure: (
      measurement: Measured,
      system: LoopbackSystem,
      signal: AbortSignal,
    ) => Promise<readonly Row[] | undefined>;
  },
): Promise<void> {
  const { arms, nginx, warm, all, measure } = work;
  const made = new Set(folder.rows.map(({ id }) => id));
  const missing = all.filter(({ id }) => !made.has(id));
  const system = await startLoopbackSystem(arms, nginx);
  try {
    await unlessItFails(system.failed, signal, async (either) => {
      for (const measurement of warm) if (!either.aborted) await measure(measurement, system, either);
      for (const [done, measurement] of missing.entries()) {
        progress.show(1 - (missing.length - done) / all.length, measurement.id);
        const rows = either.aborted ? undefined : await measure(measurement, system, either);
        if (rows === undefined) return;
        for (const row of rows) folder.append(row);
      }
    });
  } finally {
    await system.stop();
  }
}
