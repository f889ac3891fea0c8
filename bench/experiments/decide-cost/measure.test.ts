import { expect, it } from "vitest";
import { heapGrowth, type Meter, timeSubjects } from "./measure.ts";
import type { Subject } from "./subjects.ts";

/** A computer on which a call takes a nanosecond, or ten, and leaves two bytes. */
function world() {
  let nowNs = 0;
  let bytes = 0;
  const ran: string[] = [];
  const meter: Meter = { cpuNs: () => nowNs, heapBytes: () => bytes };
  const subject = (name: string, ns: number): Subject => ({
    name,
    about: "",
    calls: 100,
    run: (calls) => {
      ran.push(name);
      nowNs += ns * calls;
      bytes += 2 * calls;
      return 0;
    },
  });
  return { meter, ran, subjects: [subject("decide", 10), subject("plain look-up", 1)] };
}

it("times subjects in turn, another one first in each round", () => {
  const { meter, ran, subjects } = world();
  expect([...timeSubjects(subjects, 2, meter)]).toEqual([
    ["decide", [10, 10]],
    ["plain look-up", [1, 1]],
  ]);
  expect(ran.slice(-4)).toEqual(["decide", "plain look-up", "plain look-up", "decide"]);
});

it("says so where a subject computes nothing", () => {
  const { meter, subjects } = world();
  const broken = subjects.map((subject) => ({ ...subject, run: () => Number.NaN }));
  expect(() => timeSubjects(broken, 1, meter)).toThrow("no numbers");
});

it("tells what a call leaves on the heap", () => {
  const { meter, subjects } = world();
  expect(subjects.map((subject) => heapGrowth(subject, 1_000, meter))).toEqual([2, 2]);
});
