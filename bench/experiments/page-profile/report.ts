import { median } from "../../analysis/statistics/summary.ts";
import { number } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { distinct, runValues } from "../../harness/machine.ts";
import { float, type RowOf, type RowSchema, string } from "../../model/row-schema.ts";
import { SAMPLE_US } from "./profiler.ts";
import { STEP_NAMES } from "./steps.ts";

/** Pages under a fixed mode, of which nothing has to be decided, and pages that are decided. */
export const ARMS = ["fixed-h3", "adaptive"] as const;
export type ProfiledArm = (typeof ARMS)[number];

/** One step of a page, in one round. */
export const PROFILE_ROW = {
  id: string(),
  arm: string<ProfiledArm>(),
  round: float,
  step: string(),
  startedMs: float,
  /** Of workerd's processor time for a page. */
  share: float,
  /** Microseconds of a page. */
  us: float,
} as const satisfies RowSchema;
export type ProfileRow = RowOf<typeof PROFILE_ROW>;

export const SETTINGS = { bytes: 10_000, clients: 200, pagesPerSecond: 400, seconds: 10, warmSeconds: 1.5 };
export const SEED = 1;

export type ProfileSummary = ReturnType<typeof profileSummary>;

export function profileSummary({
  rows,
  command,
  starts,
}: Pick<Recorded<unknown, ProfileRow>, "rows" | "command" | "starts">) {
  const of = (arm: ProfiledArm, step: string): number[] =>
    rows.filter((row) => row.arm === arm && row.step === step).map(({ us }) => us);
  const steps = STEP_NAMES.map((step) => {
    const [fixed, adaptive] = ARMS.map((arm) => of(arm, step));
    return { step, fixed: rangeOf(fixed ?? []), adaptive: rangeOf(adaptive ?? []) };
  });
  const totals = ARMS.map((arm) => {
    const own = rows.filter((row) => row.arm === arm);
    return rangeOf(
      [...Map.groupBy(own, ({ round }) => round).values()].map((some) => some.reduce((us, row) => us + row.us, 0)),
    );
  });
  return { command, starts, rounds: new Set(rows.map(({ round }) => round)).size, steps, totals };
}

interface Range {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

function rangeOf(values: readonly number[]): Range {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

function text({ median: middle, least, most }: Range): string {
  return `${number(middle)} (${number(least)} to ${number(most)})`;
}

export function profileReport(summary: ProfileSummary): Report {
  const { starts, rounds, steps, totals } = summary;
  const [fixed, adaptive] = totals;
  const { clients, pagesPerSecond, seconds } = SETTINGS;
  const lines = [...steps, ...(fixed && adaptive ? [{ step: "in all", fixed, adaptive }] : [])];
  return {
    values: {
      ...runValues(summary),
      days: distinct(starts.map(({ at }) => at.slice(0, 10))),
      settings: { clients, pagesPerSecond, seconds },
      rounds,
      sampleUs: SAMPLE_US,
      steps: tableOf(lines, [
        ["step", ({ step }) => step],
        ["a page under `fixed-h3`, us", ({ fixed: own }) => text(own)],
        ["a page under `adaptive`, us", ({ adaptive: own }) => text(own)],
        ["more, us", (line) => number(line.adaptive.median - line.fixed.median)],
      ]),
    },
    pictures: [],
  };
}
