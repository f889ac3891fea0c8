import { UserError } from "../../../base/user-error.ts";
import type { LoadPlan } from "../../model/request-plan.ts";
import { runRequests } from "../../lab/request-load.ts";
import { clientAddresses, CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import { type LoopbackSystem, TOKEN } from "../../lab/loopback-system.ts";
import { callerRows } from "./caller-rows.ts";
import type { ApiLoadRow } from "./row.ts";
import type { Measurement } from "./schedule.ts";
import { startCallers } from "./start-callers.ts";
import { SUBJECT_SETUPS } from "./subjects.ts";

export interface MeasureOptions {
  readonly measurement: Measurement;
  readonly system: LoopbackSystem;
  /** Of the policy, which callers activate by turns. */
  readonly versions: readonly number[];
  /** Requests per second, of an open loop. */
  readonly rate: number;
  readonly seconds: number;
  /** Counts the measurements: each has clients of its own. */
  readonly run: number;
  readonly signal: AbortSignal;
}

/** Makes one measurement: its row, after those of the callers. Undefined where it was interrupted. @throws UserError */
export async function measure(options: MeasureOptions): Promise<ApiLoadRow[] | undefined> {
  const { measurement, system, versions, rate, seconds, signal } = options;
  const { id, loop, subject, round } = measurement;
  const processes = system.arms.get("adaptive");
  if (processes === undefined) throw new UserError("The worker does not run.");
  const { path, ...asked } = SUBJECT_SETUPS[subject].request(TOKEN);
  const clients = loop === "closed" ? CLIENTS.closed.small : SUBJECT_SETUPS[subject].openClients;
  const plan: LoadPlan = {
    ...asked,
    url: `${processes.url}${path}`,
    loop,
    clients,
    rate,
    warmSeconds: WARM_SECONDS,
    seconds,
  };
  const startedMs = Date.now();
  const { callers: kinds } = SUBJECT_SETUPS[subject];
  const callers =
    kinds.length === 0 ? undefined : await startCallers({ callers: kinds, url: processes.url, token: TOKEN, versions });
  let figures;
  let samples;
  try {
    figures = await runRequests({
      name: id,
      plan,
      addresses: clientAddresses(options.run, clients),
      processes: { ...processes, originPid: system.originPid, otherPids: callers === undefined ? [] : [callers.pid] },
      signal,
    });
  } finally {
    samples = await callers?.stop();
  }
  if (figures === undefined) return undefined;
  const { beganMs, ...counted } = figures;
  const row: ApiLoadRow = { ...measurement, startedMs, clients, rate: loop === "open" ? rate : null, ...counted };
  // The row that says that this is done comes last.
  return [
    ...(samples === undefined ? [] : callerRows(samples, { beside: subject, beganMs, seconds, round, startedMs })),
    row,
  ];
}
