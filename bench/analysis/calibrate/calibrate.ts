import type { Gains, GainTable } from "../../../policy-api/decision/gain-table.ts";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { INITIAL_POLICY, MA_MAX_S, type Policy, type Provenance } from "../../../policy-api/decision/policy.ts";
import { GAINS, type LogTime, type SenderPlace, type SenderTimes, type Stack } from "../senders/places.ts";
import { LEAN_MIX } from "./lean.ts";
import type { PriceAt } from "./price.ts";

/** A table, or the places that it lacks. */
export type Tabled = { readonly table: GainTable } | { readonly missing: readonly string[] };

/** As many digits as a measurement has. */
const DIGITS = 3;
/** A standard error below this would claim more than any measurement. */
const SE_MIN = 0.001;

/**
 * The gain table of one stack: at every RTT and size that was measured, and at the losses that are counted, what was measured there.
 * Nothing is fitted, so that each figure is one of the report's. Pure.
 */
export function gainTableOf(places: readonly SenderPlace[], { tcp, quic }: Stack, priceAt: PriceAt): Tabled {
  const axis = (of: (place: SenderPlace) => number): number[] => [...new Set(places.map(of))].sort((a, b) => a - b);
  const rttMs = axis((place) => place.rttMs);
  const contentBytes = axis((place) => place.contentBytes);
  const missing: string[] = [];
  const gains = (gain: (h2: SenderTimes, h3: SenderTimes) => LogTime): Gains => {
    const at = contentBytes.map((bytes) =>
      LOSS_NODES.map((loss) =>
        rttMs.map((rtt) => {
          const { times } =
            places.find((one) => one.rttMs === rtt && one.lossRatio === loss && one.contentBytes === bytes) ?? {};
          const [h2, h3] = [times?.[tcp], times?.[quic]];
          if (h2 !== undefined && h3 !== undefined) return gain(h2, h3);
          missing.push(`${bytes} bytes, ${loss * 100} %, ${rtt} ms`);
          return { log: 0, se: 1 };
        }),
      ),
    );
    const figures = (of: (time: LogTime) => number): number[][][] =>
      at.map((losses) => losses.map((rtts) => rtts.map((time) => rounded(of(time)))));
    return { gain: figures(({ log }) => log), se: figures(({ se }) => Math.max(se, SE_MIN)) };
  };
  const table: GainTable = {
    rttMs,
    lossRatio: LOSS_NODES,
    contentBytes,
    next: gains(GAINS.next),
    return: gains(GAINS.return),
    price: rttMs.map((rtt) => rounded(priceAt(rtt).log)),
    priceSe: rttMs.map((rtt) => rounded(Math.max(priceAt(rtt).se, SE_MIN))),
  };
  return missing.length > 0 ? { missing: [...new Set(missing)] } : { table };
}

function rounded(value: number): number {
  return Number(value.toFixed(DIGITS));
}

/** What a CDN offers, and the shortest that is worth a header, seconds. */
const MA = { minS: 60, maxS: MA_MAX_S };

/**
 * The policy of a stack: what an operator may deploy, or change first.
 *
 * @param table a lean one
 * @param ceilingBps what HTTP/3 carries at most, bytes per second
 */
export function policyOf(table: GainTable, ceilingBps: number, provenance: Provenance): Policy {
  const method = { kind: "gains", table, mix: LEAN_MIX, ceilingBps } as const;
  return { ...INITIAL_POLICY, mode: "adaptive", ma: MA, provenance, method };
}

/** The policy that decides by the measured table itself: what a lean one is compared with. */
export function tablePolicyOf(table: GainTable): Policy {
  const method = { kind: "gains", table, mix: ACCESS_LINES } as const;
  return { ...INITIAL_POLICY, mode: "adaptive", ma: MA, method };
}

/** How many clients have each loss that is counted: access lines, fixed and cellular (assumed). */
export const ACCESS_LINES = [0.7, 0.1, 0.06, 0.075, 0.05, 0.015] as const;
