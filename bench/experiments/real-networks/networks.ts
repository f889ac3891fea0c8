import { seededRandom } from "../../analysis/statistics/random.ts";
import { type Network, type ProfileStep, QUEUE_BYTES } from "../../model/cell.ts";
import { followTrace, type RateTrace } from "../../model/trace.ts";

/** A network of the run, and where it comes from. */
export interface RealNetwork {
  readonly network: Network;
  readonly from: "described" | "policed" | "trace";
}

const HOME = { rateMbps: 50, delayMs: 15 };
const FAR = { rateMbps: 20, delayMs: 75 };
const PHONE = { rateMbps: 20, delayMs: 30 };
/** Assumed: a trace has no delay. Of cellular links the median of the speed tests in the population's description. */
const DELAYS_MS = { cellular: 30, wifi: 15 };

/** Losses come together: 20 times in 100 s, at times drawn once, half of the packets of 60 ms are lost. */
const BURSTS = { count: 20, ms: 60, lossRatio: 0.5, repeatMs: 100_000 };

function bursts(path: { readonly rateMbps: number; readonly delayMs: number }): Partial<Network> {
  const random = seededRandom("real-networks", "bursts");
  const slotMs = BURSTS.repeatMs / BURSTS.count;
  const profile = Array.from({ length: BURSTS.count }, (_, i): ProfileStep[] => {
    const atMs = Math.round(i * slotMs + 1 + random() * (slotMs - BURSTS.ms - 2));
    return [
      { ...path, atMs, lossRatio: BURSTS.lossRatio },
      { ...path, atMs: atMs + BURSTS.ms },
    ];
  }).flat();
  return { profile, profileRepeatMs: BURSTS.repeatMs };
}

/** Which networks a run has: all that a visit has for itself, two of them, or those that it shares with a download. */
export type Chosen = "own" | "quick" | "shared";

/** Described networks, those that treat UDP apart, and one for each trace; or those that are shared. */
export function networksOf(traces: readonly RateTrace[], chosen: Chosen): RealNetwork[] {
  const described = (name: string, path: Omit<Network, "name" | "queueBytes" | "lossRatio"> & Partial<Network>) =>
    ({ network: { queueBytes: QUEUE_BYTES, lossRatio: 0, ...path, name }, from: "described" }) as const;
  const policed = (name: string, udp: Partial<Network>) =>
    ({ ...described(name, { ...PHONE, ...udp }), from: "policed" }) as const;
  if (chosen === "shared")
    return [
      described("home line beside a download", { ...HOME, crossTraffic: "tcp" }),
      described("home line beside a download, fq_codel", { ...HOME, crossTraffic: "tcp", queue: "fq_codel" }),
    ];
  const all: RealNetwork[] = [
    described("fast line", { rateMbps: 300, delayMs: 4 }),
    described("home line", HOME),
    described("home line, short queue", { ...HOME, queueBytes: 60_000 }),
    described("far away", FAR),
    described("phone, 1 % lost", { ...PHONE, lossRatio: 0.01 }),
    described("far away, 0.5 % lost", { ...FAR, lossRatio: 0.005 }),
    described("phone, losses in bursts", { ...PHONE, ...bursts(PHONE) }),
    described("phone, jitter of 20 ms", { ...PHONE, jitterMs: 20 }),
    policed("8 % of UDP lost", { udpLossRatio: 0.08 }),
    policed("UDP held to 5 Mbit/s", { udpRateMbps: 5, udpBurstBytes: 50_000 }),
    policed("UDP of at most 1,300 bytes", { udpMaxBytes: 1_300 }),
    policed("no UDP", { udpLossRatio: 1 }),
    ...traces.map((trace): RealNetwork => {
      const delayMs = trace.stepMs < 1_000 ? DELAYS_MS.cellular : DELAYS_MS.wifi;
      const network = { name: trace.name, lossRatio: 0, queueBytes: QUEUE_BYTES, ...followTrace(trace, delayMs) };
      return { network, from: "trace" };
    }),
  ];
  const isQuick = chosen === "quick";
  return isQuick ? all.filter(({ network }) => ["UDP held to 5 Mbit/s", "far away"].includes(network.name)) : all;
}
