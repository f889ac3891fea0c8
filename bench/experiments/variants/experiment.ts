import { defineLoads } from "../../harness/loads/define.ts";
import { type Cell, type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";
import { cellsBySender } from "../../model/senders.ts";
import { shortName, VARIANTS, variantsReport, variantsSummary } from "./findings.ts";

const LARGEST = 1_000_000;
const USUAL = { rttMs: [30, 100, 300], lossRatio: [0, 0.005], imageBytes: [100_000, LARGEST] };
const QUICK: typeof USUAL = { rttMs: [30], lossRatio: [0.005], imageBytes: [100_000] };
/** Where nothing is lost, loads differ little. */
const ROUNDS = { clean: 4, lossy: 12 };
const QUICK_ROUNDS = 3;
const RATE_MBPS = 50;
const FILES = 30;
/** An outage loses half of what is sent in 40 ms; so many a second lose as much as the plain network does. */
const OUTAGE = { badMs: 40, lossBad: 0.5 };

type Place = { readonly rttMs: number; readonly lossRatio: number; readonly bytes: number };
type Varied = Pick<Cell, "network" | "imageBytes" | "images">;

/** What differs from the plain network of a place. Undefined: nothing does there. */
const VARY: Readonly<Record<(typeof VARIANTS)[number], (plain: Varied, place: Place) => Varied | undefined>> = {
  plain: (plain) => plain,
  "30 files": (plain, { bytes }) => ({ ...plain, imageBytes: Math.ceil(bytes / FILES), images: FILES }),
  "short queue": (plain, { rttMs }) => within(plain, { queueBytes: Math.max(15_000, (RATE_MBPS * 125 * rttMs) / 4) }),
  "10 Mbit/s": (plain) => within(plain, { rateMbps: 10 }),
  "200 Mbit/s": (plain) => within(plain, { rateMbps: 200 }),
  "loss in bursts": (plain, { lossRatio }) =>
    lossRatio === 0
      ? undefined
      : within(plain, {
          lossRatio: 0,
          outages: { ...OUTAGE, goodMs: OUTAGE.badMs * (OUTAGE.lossBad / lossRatio - 1) },
        }),
  jitter: (plain, { rttMs }) => within(plain, { jitterMs: rttMs / 10 }),
  // Tables end at 1 MB: what is beyond is a rule of policy-api/core/gain-table.ts.
  "3 MB": (plain, { bytes }) => (bytes === LARGEST ? { ...plain, imageBytes: 3 * LARGEST } : undefined),
  "10 MB": (plain, { bytes, rttMs, lossRatio }) =>
    // With loss on a long path TCP takes minutes.
    bytes === LARGEST && (lossRatio === 0 || rttMs <= 100) ? { ...plain, imageBytes: 10 * LARGEST } : undefined,
};

function within(plain: Varied, change: Partial<Network>): Varied {
  return { ...plain, network: { ...plain.network, ...change } };
}

/** How much the gains of `senders` hang on what its networks all have alike. */
export function variants({ congestions, size }: LoadOptions): LoadExperiment {
  const { rttMs, lossRatio, imageBytes } = size === "quick" ? QUICK : USUAL;
  const places = imageBytes.flatMap((bytes) =>
    lossRatio.flatMap((loss) => rttMs.map((rtt): Place => ({ rttMs: rtt, lossRatio: loss, bytes }))),
  );
  const cells = VARIANTS.flatMap((variant) => places.flatMap((place) => cellsOf(variant, place, congestions)));
  const most = size === "quick" ? QUICK_ROUNDS : ROUNDS.lossy;
  return {
    about: "other files, sizes, queues, rates, bursts and jitter: how far gains move",
    switch: "wait",
    loads: [{ arm: "bare", flow: "visit" }],
    cells,
    allocation: { first: most, cap: most, comparisons: [] },
    rounds: Object.fromEntries(cells.filter(isClean).map(({ id }) => [id, Math.min(most, ROUNDS.clean)])),
    timeoutMs: 240_000,
    notes: [
      "A load is a visit of two pages over one connection, five seconds apart. No worker stands behind any of the servers.",
      "Losses in bursts have the same mean as the plain network's: half of the packets of 40 ms at a time, at times that no sender moves.",
    ],
  };
}

function cellsOf(
  variant: (typeof VARIANTS)[number],
  place: Place,
  congestions: LoadOptions["congestions"],
): readonly Cell[] {
  const { rttMs, lossRatio, bytes } = place;
  const name = `${bytes / 1000}k-${rttMs}-${lossRatio * 100}-${shortName(variant)}`;
  const network = { name, rateMbps: RATE_MBPS, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
  const varied = VARY[variant]({ network, imageBytes: bytes }, place);
  // A visit rests for most of its time, so others may go on beside it.
  return varied === undefined ? [] : cellsBySender({ id: name, isAlone: false, ...varied }, congestions, "visit");
}

function isClean({ network }: Cell): boolean {
  return network.lossRatio === 0 && network.outages === undefined;
}

export const experiment = defineLoads({ plan: variants, summarise: variantsSummary, report: variantsReport });
