import { median } from "../../analysis/statistics/summary.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number } from "../../analysis/tables/format.ts";
import type { Machine } from "../../model/machine.ts";
import type { Timings } from "./measure.ts";
import type { StateSize } from "./samples.ts";
import type { Subject } from "./subjects.ts";

/** What a decision may cost. */
const BOUND_NS = 2_000;
/** The smallest object takes 16 bytes: below this, fewer than one call in 16 leaves anything. */
const GROWTH_BOUND_BYTES = 1;

export type SubjectCost = ReturnType<typeof costsOf>[number];

export interface DecideCostSummary {
  readonly command: string;
  readonly day: string;
  readonly policy: string;
  /** Of both lattices. */
  readonly nodes: { readonly tcp: number; readonly quic: number };
  readonly rounds: number;
  readonly heapCalls: number;
  readonly machine: Machine;
  readonly costs: readonly SubjectCost[];
}

/** @param growthOf bytes that a call of a subject leaves on the heap */
export function costsOf(subjects: readonly Subject[], timings: Timings, growthOf: (subject: Subject) => number) {
  const reference = timings.get("plain look-up") ?? [];
  return subjects.map((subject) => {
    const ns = timings.get(subject.name) ?? [];
    return {
      subject: subject.name,
      about: subject.about,
      nsPerCall: rangeOf(ns),
      /** To the plain look-up of the same round. */
      ratio: rangeOf(ns.map((one, round) => one / (reference[round] ?? Number.NaN))),
      heapBytesPerCall: growthOf(subject),
      state: subject.state ?? null,
    };
  });
}

export function costTable(costs: readonly SubjectCost[]): string {
  return figuresTable(
    ["", "ns a call, median", "range", "times a plain look-up", "range", "heap, bytes left a call"],
    costs.map(({ subject, nsPerCall, ratio, heapBytesPerCall }) => [
      subject,
      number(nsPerCall.median),
      rangeText(nsPerCall),
      number(ratio.median),
      rangeText(ratio),
      heapBytesPerCall.toFixed(3),
    ]),
  );
}

/** The values of report.md. */
export function decideCostValues({ costs, heapCalls, machine, ...given }: DecideCostSummary) {
  const ns = (name: string): number => costs.find(({ subject }) => subject === name)?.nsPerCall.median ?? Number.NaN;
  const { node, cores, cpu, kernel, arch, commit } = machine;
  const { command, day, policy, nodes, rounds } = given;
  return {
    command,
    day,
    policy,
    nodes,
    rounds,
    table: costTable(costs),
    isWithin: ns("decide") <= BOUND_NS ? "is within" : "**misses**",
    boundUs: number(BOUND_NS / 1_000),
    heapCalls: heapCalls.toLocaleString("en-US"),
    grows: costs.every(({ heapBytesPerCall }) => heapBytesPerCall < GROWTH_BOUND_BYTES)
      ? "nothing is left on the heap that grows with them"
      : "**something is left on the heap**",
    later: number(ns("update after 1,000,000") / ns("update after 10,000")),
    states: costs
      .flatMap(({ subject, state }) => (state === null ? [] : [`${subject} ${stateText(state)}`]))
      .join("; "),
    subjects: costs.map(({ subject, about }) => `- ${subject}: ${about}`).join("\n"),
    machine: { node, cores, cpu, kernel, arch, commit },
  };
}

function stateText({ epochs, buckets, baselines, bytes }: StateSize): string {
  const length = bytes.toLocaleString("en-US");
  return `${epochs} epochs, ${buckets} buckets a window, ${baselines} baselines, ${length} bytes of JSON`;
}

function rangeOf(values: readonly number[]) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

function rangeText({ min, max }: ReturnType<typeof rangeOf>): string {
  return `${number(min)} to ${number(max)}`;
}
