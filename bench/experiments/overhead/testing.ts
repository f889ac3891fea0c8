import { LOOPBACK_ARMS, type LoopbackArm } from "../../lab/loopback-system.ts";
import { EXAMPLE_MACHINE } from "../../model/testing-machine.ts";
import { blankRow } from "../../model/row-schema.ts";
import { measurements } from "./experiment.ts";
import {
  LOOPBACK_COLUMNS,
  type LoopbackRow,
  type LoopbackSummary,
  measurementId,
  type Subject,
  SUBJECTS,
  summarizeLoopback,
} from "./report.ts";

export function exampleRow(
  { name, size, arm }: Subject,
  given: Pick<LoopbackRow, "loop"> & Partial<LoopbackRow>,
): LoopbackRow {
  const id = measurementId(given.loop, name, given.round ?? 0);
  return blankRow(LOOPBACK_COLUMNS, { id, size, arm, answers: 1, startedMs: 1e12, foreignRatio: 0.01, ...given });
}

/** Rounds of a machine that gets slower, alike for all subjects: a subject's ratio is its factor in every round. */
export function exampleRows(rounds: number, factors: Readonly<Partial<Record<LoopbackArm, number>>>): LoopbackRow[] {
  return measurements(SUBJECTS, rounds).map(({ loop, subject, round }) => {
    const slow = (round + 1) * (factors[subject.arm] ?? 1);
    const hasWorkerd = LOOPBACK_ARMS[subject.arm].worker !== "none";
    return exampleRow(subject, {
      loop,
      round,
      rate: loop === "open" ? 500 : null,
      requestsPerSecond: loop === "open" ? 500 : 1000 / slow,
      latencyMedianMs: slow,
      latencyP90Ms: 2 * slow,
      latencyP99Ms: 3 * slow,
      frontCpuUs: 100 * slow,
      workerdCpuUs: hasWorkerd ? 200 * slow : null,
      originCpuUs: 1,
      clientCpuUs: 1,
    });
  });
}

export function exampleSummary(
  rows: readonly LoopbackRow[],
  rounds: number,
  tools: Readonly<Record<string, string | null>> = {},
): LoopbackSummary {
  const starts = [{ at: "2026-01-01T00:00:00.000Z", lanes: 1, rowsBefore: 0, machine: EXAMPLE_MACHINE, tools }];
  return summarizeLoopback({ rounds, seconds: 1 }, { rows, command: "npm run bench -- example", starts });
}
