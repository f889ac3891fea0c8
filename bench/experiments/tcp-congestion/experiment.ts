import { defineLoads } from "../../harness/loads/define.ts";
import { congestionReport, congestionSummary } from "./report.ts";
import type { Arm } from "../../model/arm.ts";
import { type Cell, type Network, type PlannedLoad, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";

/** The published page: 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %. */
const IMAGES = 12;
const FAR_DELAY_MS = 32;
const NEAR_DELAY_MS = 2;
/** Not published. What this machine carries over either protocol without a busy core; an RTT holds 800 kB of it. */
const RATE_MBPS = 100;

/** Lower ones near by, with loss: there one connection may fill the line between two losses, as it was published to. */
const LOWER_RATES_MBPS = [50, 20];

const USUAL = {
  usualBytes: 2_500_000,
  /** The share that CUBIC gives up: the published four, of which the first is the kernel's own. */
  betas: [0.3, 0.2, 0.1, 0.02],
  /** Without the growth that keeps CUBIC fair to Reno: with it a beta that is set while the kernel runs can hardly be slower. */
  unfriendly: [0.3, 0.2],
  /** Packets: a larger one than RFC 6928's 10, and more than the path holds. */
  windows: [100, 1_000],
  rounds: 15,
  lossRatio: 0.001,
};

const SIZES: Readonly<Record<LoadOptions["size"], typeof USUAL>> = {
  // Of small images few are lost at 0.1 %.
  quick: { usualBytes: 50_000, betas: [0.3, 0.02], unfriendly: [0.2], windows: [100], rounds: 2, lossRatio: 0.01 },
  usual: USUAL,
  full: { ...USUAL, rounds: 50 },
};

const over = (...arms: readonly Arm[]): readonly PlannedLoad[] => arms.map((arm) => ({ arm, flow: "trained" }));
const ALL = over("fixed-h1", "fixed-h2", "fixed-h3");

/** The published study of why one connection suffers (tcp-congestion): a page over TCP's windows, and over HTTP/3. */
export function tcpCongestion({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { usualBytes, betas, unfriendly, windows, rounds, lossRatio } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  /** Far and lossy unless another network is given. */
  const cell = (
    name: string,
    { network, ...rest }: Partial<Omit<Cell, "network">> & { network?: Partial<Network> },
  ) => ({
    id: name,
    network: { name, rateMbps: RATE_MBPS, delayMs: FAR_DELAY_MS, lossRatio, queueBytes: QUEUE_BYTES, ...network },
    congestion: "cubic" as const,
    imageBytes,
    images: IMAGES,
    ...rest,
  });
  const cells: Cell[] = [
    // The first is what the others stand beside: all protocols, and the machine's own beta.
    ...betas.map((beta) =>
      cell(`beta-${beta}`, {
        isTraced: true,
        ...(beta === 0.3 ? { loads: ALL } : { tcp: { cubic: { beta } }, ...(beta < 0.2 ? { isAlone: true } : {}) }),
      }),
    ),
    ...unfriendly.map((beta) =>
      cell(`unfriendly-${beta}`, { isTraced: true, tcp: { cubic: { beta, isFriendly: false } } }),
    ),
    ...windows.map((packets) => cell(`window-${packets}`, { isTraced: true, tcp: { initialWindow: packets } })),
    cell("bbr", { congestion: "bbr", isTraced: true, isAlone: true, loads: over("fixed-h1", "fixed-h2") }),
    cell("far-clean", { network: { lossRatio: 0 }, isAlone: true, loads: ALL }),
    cell("near-lossy", { network: { delayMs: NEAR_DELAY_MS }, isAlone: true, loads: ALL }),
    cell("near-clean", { network: { delayMs: NEAR_DELAY_MS, lossRatio: 0 }, isAlone: true, loads: ALL }),
    ...LOWER_RATES_MBPS.map((rateMbps) =>
      cell(`near-lossy-${rateMbps}`, {
        network: { delayMs: NEAR_DELAY_MS, rateMbps },
        loads: over("fixed-h1", "fixed-h2"),
      }),
    ),
  ];
  return {
    switch: "wait",
    loads: over("fixed-h2"),
    cells: cells.filter(({ congestion }) => congestions.includes(congestion)),
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 180_000,
    notes: [
      `The page is a small document and then ${IMAGES} images at the same time: all on one connection over HTTP/2 and HTTP/3, on six over HTTP/1.1. A load is timed from connection setup; the published time begins with the first image.`,
      `The published rate is not told; here it is ${RATE_MBPS} Mbit/s. The published largest window is 16 MB, as much as this path and its queue hold seven times over.`,
      "Ways that differ in a setting of the whole machine, and those that keep a core busy, were measured one after another; the others in turns.",
      size === "usual" &&
        `${rounds} loads of each, as one over HTTP/2 takes half a minute; \`--full\` makes 50. How many were published is not told.`,
    ],
  };
}

export const experiment = defineLoads({ plan: tcpCongestion, summarise: congestionSummary, report: congestionReport });
