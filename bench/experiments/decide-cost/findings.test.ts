import { expect, it } from "vitest";
import { reportText } from "../../harness/results.ts";
import { EXAMPLE_MACHINE } from "../../model/testing-machine.ts";
import { decideCostValues } from "./findings.ts";
import { costsOf } from "./summary.ts";
import type { Subject } from "./subjects.ts";

const subject = (name: string, state?: Subject["state"]): Subject => ({
  name,
  about: "",
  calls: 10,
  run: () => 0,
  ...(state && { state }),
});
const SUBJECTS = [subject("decide"), subject("plain look-up")];

function costs(decideNs: readonly number[], lookUpNs: readonly number[], bytes = 0) {
  const timings = new Map([
    ["decide", decideNs],
    ["plain look-up", lookUpNs],
  ] as const);
  return costsOf(SUBJECTS, timings, ({ name }) => (name === "decide" ? bytes : 0));
}

function reportOf(made: ReturnType<typeof costs>): string {
  const about = { command: "", day: "", policy: "", gains: 504, rounds: 3, heapCalls: 1e6 };
  return reportText("decide-cost", { values: decideCostValues({ ...about, machine: EXAMPLE_MACHINE, costs: made }) });
}

it("takes medians, ranges, and ratios within a round", () => {
  const [decide, lookUp] = costs([1_000, 3_000, 1_200], [10, 100, 12]);
  expect(decide).toMatchObject({
    nsPerCall: { median: 1_200, min: 1_000, max: 3_000 },
    ratio: { median: 100, min: 30, max: 100 },
    heapBytesPerCall: 0,
    state: null,
  });
  expect(lookUp?.ratio).toEqual({ median: 1, min: 1, max: 1 });
});

it.each([
  [[1_499, 1_499, 9_000], "is within"],
  [[1_501, 1_501, 1_000], "**misses**"],
])("decide at %j ns %s its bound", (ns, text) => {
  expect(reportOf(costs(ns, [1, 1, 1]))).toContain(`\`decide\` ${text} its bound of 1.50 microseconds`);
});

it.each([
  [0.3, "nothing is left"],
  [-4, "nothing is left"],
  [16, "**something is left"],
])("%d bytes a call: %s", (bytes, text) => {
  expect(reportOf(costs([1], [1], bytes))).toContain(text);
});

it("says how large what is kept of a client grows", () => {
  const timings = new Map([["update", [1]]]);
  const made = costsOf([subject("update", { connections: 8, bytes: 1_650 })], timings, () => 0);
  expect(reportOf(made)).toContain("8 connections, 1,650 bytes of JSON");
});

it("says how many gains were read", () => {
  expect(reportOf(costs([1], [1]))).toContain("504 gains");
});
