import type { Subject } from "./subjects.ts";

/** What the computer under a measurement is asked for. */
export interface Meter {
  /** CPU time of this process so far, nanoseconds. */
  cpuNs(): number;
  /** Bytes of the heap that are reachable. */
  heapBytes(): number;
}

/** What one subject cost in one round. */
export interface Timing {
  readonly round: number;
  readonly subject: Subject["name"];
  readonly nsPerCall: number;
}

/** Before anything counts: by then all of it has been compiled, and compiled again. */
const WARM_BATCHES = 30;

/**
 * Times all subjects in turn, round by round, so that what slows the machine for a while slows all of them. Each round
 * begins with another one.
 */
export function timeSubjects(subjects: readonly Subject[], rounds: number, meter: Meter): Timing[] {
  // Results go somewhere, or the compiler might leave the work out.
  let results = 0;
  for (const subject of subjects)
    for (let batch = 0; batch < WARM_BATCHES; batch++) results += subject.run(subject.calls);
  const timings: Timing[] = [];
  for (let round = 0; round < rounds; round++)
    for (const [turn] of subjects.entries()) {
      const subject = subjects[(round + turn) % subjects.length];
      if (subject === undefined) continue;
      const beganNs = meter.cpuNs();
      results += subject.run(subject.calls);
      timings.push({ round, subject: subject.name, nsPerCall: (meter.cpuNs() - beganNs) / subject.calls });
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
