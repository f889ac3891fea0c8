import { runRequests } from "../../lab/request-load.ts";
import type { LoopbackSystem } from "../../lab/loopback-system.ts";
import type { LoopbackRow } from "./row.ts";
import type { Measurement } from "./schedule.ts";

/** Before the seconds that count: every connection is made and used twice, which takes about half of it. */
export const WARM_SECONDS = 1.5;

/** Makes one measurement: its row, after those of its company. Undefined where it was interrupted. @throws UserError */
export async function measureSubject(options: {
  readonly measurement: Measurement;
  readonly system: LoopbackSystem;
  /** Requests per second; null in a closed loop. */
  readonly rate: number | null;
  readonly seconds: number;
  /** Counts the arm's measurements: each has clients of its own. */
  readonly run: number;
  readonly signal: AbortSignal;
}): Promise<readonly LoopbackRow[] | undefined> {
  const { measurement, system, rate, seconds, run, signal } = options;
  const { id, loop, subject, round } = measurement;
  const { path, ...request } = subject.request;
  const arm = system.arms.get(subject.arm);
  if (arm === undefined) throw new Error(`${subject.arm} does not run.`);
  const clients = subject.clients[loop];
  const url = `${arm.url}${path}`;
  const startedMs = Date.now();
  const company = await subject.company?.start(arm);
  let figures;
  let rowsOf;
  try {
    figures = await runRequests({
      name: id,
      plan: { ...request, url, loop, clients, rate: rate ?? 0, warmSeconds: WARM_SECONDS, seconds },
      run,
      ...arm,
      originPid: system.originPid,
      otherPids: company === undefined ? [] : [company.pid],
      signal,
    });
  } finally {
    rowsOf = await company?.stop();
  }
  if (figures === undefined) return undefined;
  const { beganMs, ...counted } = figures;
  const others = rowsOf?.({ subject: subject.name, round, startedMs, beganMs, seconds }) ?? [];
  // The row that says that this is done comes last.
  return [...others, { id, loop, round, ...subject.columns, startedMs, clients, rate, ...counted }];
}
