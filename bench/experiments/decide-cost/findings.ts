import { number } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { StateSize } from "./samples.ts";
import type { DecideCostSummary, SubjectCost } from "./summary.ts";

/** What a decision may cost. */
const BOUND_NS = 1_500;
/** The smallest object takes 16 bytes: below this, fewer than one call in 16 leaves anything. */
const GROWTH_BOUND_BYTES = 1;

export function costTable(costs: readonly SubjectCost[]): string {
  return tableOf(costs, [
    ["", ({ subject }) => subject],
    ["ns a call, median", ({ nsPerCall }) => number(nsPerCall.median)],
    ["range", ({ nsPerCall }) => rangeText(nsPerCall)],
    ["times a plain look-up", ({ ratio }) => number(ratio.median)],
    ["range", ({ ratio }) => rangeText(ratio)],
    ["heap, bytes left a call", ({ heapBytesPerCall }) => heapBytesPerCall.toFixed(3)],
  ]);
}

/** The values of report.md. */
export function decideCostValues({ costs, heapCalls, machine, ...given }: DecideCostSummary) {
  const ns = (name: string): number => costs.find(({ subject }) => subject === name)?.nsPerCall.median ?? Number.NaN;
  // A recorded summary may have other fields, which the template does not use.
  const { command, day, policy, gains, rounds } = given;
  const about = { command, day, policy, gains, rounds };
  const { node, cores, cpu, kernel, arch, commit } = machine;
  return {
    ...about,
    table: costTable(costs),
    isWithin: ns("decide") <= BOUND_NS ? "is within" : "**misses**",
    boundUs: number(BOUND_NS / 1_000),
    heapCalls: heapCalls.toLocaleString("en-US"),
    grows: costs.every(({ heapBytesPerCall }) => heapBytesPerCall < GROWTH_BOUND_BYTES)
      ? "nothing is left on the heap that grows with them"
      : "**something is left on the heap**",
    states: costs
      .flatMap(({ subject, state }) => (state === null ? [] : [`${subject} ${stateText(state)}`]))
      .join("; "),
    subjects: costs.map(({ subject, about: text }) => `- ${subject}: ${text}`).join("\n"),
    machine: { node, cores, cpu, kernel, arch, commit },
  };
}

function stateText({ connections, bytes }: StateSize): string {
  return `${connections} connections, ${bytes.toLocaleString("en-US")} bytes of JSON`;
}

function rangeText({ min, max }: SubjectCost["ratio"]): string {
  return `${number(min)} to ${number(max)}`;
}
