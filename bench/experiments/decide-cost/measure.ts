import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Subject } from "./subjects.ts";

/** What the computer under a measurement is asked for. */
export type Meter = ReturnType<typeof nodeMeter>;

export function nodeMeter() {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  return {
    /**
     * CPU time of this process so far, not the clock's: what other programs do meanwhile is not in it. It has the
     * collector's and the compiler's threads in it.
     */
    cpuNs: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) * 1_000;
    },
    /** Of the heap that are reachable. */
    heapBytes: () => {
      // The second one takes what the first one's finalizers let go.
      gc();
      gc();
      return process.memoryUsage().heapUsed;
    },
  };
}

/** What a call of one subject took in each round, nanoseconds. */
export type Timings = ReadonlyMap<string, readonly number[]>;

/** Before anything counts: by then all of it has been compiled, and compiled again. */
const WARM_BATCHES = 30;

/**
 * Times all subjects in turn, round by round, so that what slows the machine for a while slows all of them. Each round
 * begins with another one.
 */
export function timeSubjects(subjects: readonly Subject[], rounds: number, meter: Meter): Timings {
  // Results go somewhere, or the compiler might leave the work out.
  let results = 0;
  for (const subject of subjects)
    for (let batch = 0; batch < WARM_BATCHES; batch++) results += subject.run(subject.calls);
  const timings = new Map(subjects.map(({ name }) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round++) {
    const first = round % subjects.length;
    for (const subject of [...subjects.slice(first), ...subjects.slice(0, first)]) {
      const beganNs = meter.cpuNs();
      results += subject.run(subject.calls);
      timings.get(subject.name)?.push((meter.cpuNs() - beganNs) / subject.calls);
    }
  }
  if (Number.isNaN(results)) throw new Error("A subject's results are no numbers: what was timed was not the work.");
  return timings;
}

/** Bytes that a call leaves on the heap, over so many calls. */
export function heapGrowth(subject: Subject, calls: number, meter: Meter): number {
  subject.run(subject.calls);
  const before = meter.heapBytes();
  subject.run(calls);
  return (meter.heapBytes() - before) / calls;
}
