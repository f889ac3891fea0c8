import { UserError } from "../../../base/user-error.ts";
import { OVERHEAD_SETUPS } from "../../lab/loopback-arms.ts";
import { type LoadPlan, SIZES } from "../../model/request-plan.ts";
import type { OverheadRow } from "./row.ts";
import { runRequests } from "../../lab/request-load.ts";
import { clientAddresses, CLIENTS, WARM_SECONDS } from "../../lab/loopback-clients.ts";
import type { Measurement } from "./schedule.ts";
import type { LoopbackSystem } from "../../lab/loopback-system.ts";

export interface MeasureOptions {
  readonly measurement: Measurement;
  readonly system: LoopbackSystem;
  /** Requests per second, of an open loop. */
  readonly rate: number;
  readonly seconds: number;
  /** Counts the arm's measurements: each has clients of its own. */
  readonly run: number;
  readonly signal: AbortSignal;
}

/** Makes one measurement; undefined where it was interrupted. @throws UserError where k6 fails */
export async function measure(options: MeasureOptions): Promise<OverheadRow | undefined> {
  const { measurement, system, rate, seconds, signal } = options;
  const { loop, size, arm } = measurement;
  const processes = system.arms.get(arm);
  if (processes === undefined) throw new UserError(`${arm} does not run.`);
  const { secFetchDest, offers } = OVERHEAD_SETUPS[arm];
  const clients = CLIENTS[loop][size];
  const plan: LoadPlan = {
    url: `${processes.url}/image/${SIZES[size]}`,
    headers: { "Sec-Fetch-Dest": secFetchDest },
    body: null,
    offers,
    bodyBytes: SIZES[size],
    loop,
    clients,
    rate,
    warmSeconds: WARM_SECONDS,
    seconds,
  };
  const startedMs = Date.now();
  const figures = await runRequests({
    name: measurement.id,
    plan,
    addresses: clientAddresses(options.run, clients),
    processes: { ...processes, originPid: system.originPid },
    signal,
  });
  if (figures === undefined) return undefined;
  const { beganMs: _, ...counted } = figures;
  return { ...measurement, startedMs, clients, rate: loop === "open" ? rate : null, ...counted };
}
