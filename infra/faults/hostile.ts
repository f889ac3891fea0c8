import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import type { System } from "../workerd/system.ts";
import type { Accounting } from "./accounting.ts";
import { type HostileRun, judgeHostile, megabytes, MEMORY_MAX_BYTES, tablesOf } from "./hostile-judge.ts";
import type { HostileStart, Load } from "./load.ts";
import { residentBytes } from "./machine.ts";

/** Visitors that come meanwhile, so that nobody attacks a system at rest. */
const VISITORS_PER_SECOND = 30;
/** Then the programs give memory back, and finish what attackers left. */
const AFTERWARDS_MS = 3_000;
const PROGRESS_MS = 60_000;

/** What the edge and workerd wrote, and sentences about their ends: filled while they run. */
export interface Said {
  readonly lines: string[];
  readonly endings: string[];
}

export interface HostileScene {
  readonly system: System;
  readonly load: Load;
  readonly accounting: Accounting;
  readonly said: Said;
}

/**
 * Sends hostile inputs beside visitors, until `interrupted`. Returns what reports them once the programs have ended: that
 * prints what came of it, and throws a UserError if something was wrong.
 */
export async function attack(
  { system, load, accounting, said }: HostileScene,
  inputs: HostileStart,
  interrupted: Promise<void>,
): Promise<() => void> {
  const { seed, count } = inputs;
  await load.start({ ...inputs, perSecond: VISITORS_PER_SECOND, addresses: 0 });
  console.log(`${count} hostile inputs go to ${inputs.site}`);
  let toldMs = Date.now();
  const summary = await Promise.race([
    load.hostile(inputs, (sent) => {
      if (Date.now() - toldMs < PROGRESS_MS) return;
      toldMs = Date.now();
      console.log(`${sent} of ${count} inputs are sent`);
    }),
    interrupted,
  ]);
  if (summary === undefined) return () => undefined;
  await load.stop();
  await Promise.race([pause(AFTERWARDS_MS), interrupted]);
  const memory = { edge: residentBytes(system.edgePid()), workerd: residentBytes(system.workerd.pid()) };
  return () => {
    accounting.settle();
    const requests = [...accounting.counts.values()].reduce((sum, one) => sum + one.requests, 0);
    const run: HostileRun = {
      seed,
      summary,
      ...said,
      memory,
      visitors: { requests, wrong: accounting.report() },
    };
    console.log(`\n${tablesOf(summary)}\n`);
    console.log(`${count} hostile inputs in ${summary.seconds.toFixed(0)} s, and ${requests} requests of visitors.`);
    for (const program of ["edge", "workerd"] as const)
      console.log(`${program} holds ${megabytes(memory[program])} of ${megabytes(MEMORY_MAX_BYTES[program])}.`);
    const wrong = judgeHostile(run);
    if (wrong.length > 0) throw new UserError(`\nWrong:\n${wrong.join("\n")}`);
    console.log("No input brought an error of ours, a panic or a hang, and every visitor got the origin's response.");
  };
}
