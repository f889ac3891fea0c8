import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import type { System } from "../workerd/system.ts";
import type { Accounting } from "./accounting.ts";
import type { Clock } from "./clock.ts";
import {
  type HostileRun,
  type HostileSummary,
  judgeHostile,
  megabytes,
  MEMORY_MAX_BYTES,
  tablesOf,
} from "./hostile-judge.ts";
import type { HostileStart, Load } from "./load.ts";
import { residentBytes } from "./machine.ts";
import type { ReportBooks } from "./report-books.ts";
import { ReportReader } from "./report-reader.ts";

/** Visitors that come meanwhile, so that nobody attacks a system at rest. */
const VISITORS_PER_SECOND = 30;
/** Then the programs give memory back, and finish what attackers left. */
const AFTERWARDS_MS = 3_000;
const PROGRESS_MS = 60_000;
/** No report counts so long after its page. */
const LATE_S = 7_200;

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
  readonly objectsDir: string;
  /** workerd's clock. Undefined if it cannot be set here. */
  readonly clock: Clock | undefined;
}

/**
 * Sends hostile inputs beside visitors, until `interrupted`. Returns what reports them once the programs have ended: that
 * prints what came of it, and throws a UserError if something was wrong.
 */
export async function attack(
  { system, load, accounting, said, objectsDir, clock }: HostileScene,
  inputs: HostileStart & { readonly token: string },
  interrupted: Promise<void>,
): Promise<() => void> {
  const { seed, count } = inputs;
  await load.start({ ...inputs, perSecond: VISITORS_PER_SECOND, addresses: 0 });
  console.log(`${count} hostile inputs go to ${inputs.site}`);
  let toldMs = Date.now();
  const onSent = (sent: number): void => {
    if (Date.now() - toldMs < PROGRESS_MS) return;
    toldMs = Date.now();
    console.log(`${sent} of ${count} inputs are sent`);
  };
  const books = new ReportReader(system.workerd.visitorsSocket, inputs.token, objectsDir, load);
  const attacking = async (): Promise<[HostileSummary, Omit<ReportBooks, "late">]> => {
    const summary = await load.hostile(inputs, onSent);
    return [summary, { attacked: await books.read(), replayed: await books.readAfterReplay() }];
  };
  const came = await Promise.race([attacking(), interrupted]);
  if (came === undefined) return () => undefined;
  const [summary, early] = came;
  await load.stop();
  await Promise.race([pause(AFTERWARDS_MS), interrupted]);
  const memory = { edge: residentBytes(system.edgePid()), workerd: residentBytes(system.workerd.pid()) };
  const late = clock && (await Promise.race([readAfterHours(clock, books), interrupted]));
  return () => {
    accounting.settle();
    const requests = [...accounting.counts.values()].reduce((sum, one) => sum + one.requests, 0);
    const run: HostileRun = {
      seed,
      summary,
      ...said,
      memory,
      reports: { ...early, late: late ?? undefined },
      visitors: { requests, wrong: accounting.report() },
    };
    console.log(`\n${tablesOf(summary)}\n`);
    console.log(`${count} hostile inputs in ${summary.seconds.toFixed(0)} s, and ${requests} requests of visitors.`);
    for (const program of ["edge", "workerd"] as const)
      console.log(`${program} holds ${megabytes(memory[program])} of ${megabytes(MEMORY_MAX_BYTES[program])}.`);
    console.log(`Reports: ${JSON.stringify(early.attacked.fates)}.`);
    console.log(`${early.attacked.pages} pages count, of ${summary.reports.pages} that may.`);
    const wrong = judgeHostile(run);
    if (wrong.length > 0) throw new UserError(`\nWrong:\n${wrong.join("\n")}`);
    console.log("No input brought an error of ours, a panic or a hang, and every visitor got the origin's response.");
  };
}

async function readAfterHours(clock: Clock, books: ReportReader): Promise<NonNullable<ReportBooks["late"]>> {
  clock.shift(LATE_S);
  return books.readAfterReplay();
}
