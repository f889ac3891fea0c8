import { UserError } from "../../base/user-error.ts";
import { OVERHEAD_SETUPS } from "./arms.ts";
import type { LoadPlan } from "./load-plan.ts";
import { type OverheadRow, SIZES } from "./row.ts";
import { runLoad } from "./run-load.ts";
import { CLIENTS, clientAddresses, type Measurement, WARM_SECONDS } from "./schedule.ts";
import type { OverheadSystem } from "./system.ts";

export interface MeasureOptions {
  readonly measurement: Measurement;
  readonly system: OverheadSystem;
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
  const figures = await runLoad({
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
