import { defineLoads } from "../../harness/loads/define.ts";
import { congestionReport, congestionSummary } from "./tables.ts";
import type { Arm } from "../../model/arm.ts";
import { type Cell, type Network, type PlannedLoad, QUEUE_BYTES } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";

/** The published page: 12 images of 2.5 MB over an RTT of 64 ms with a loss of 0.1 %. */
const IMAGES = 12;
const FAR_DELAY_MS = 32;
const NEAR_DELAY_MS = 2;
const LOSS_RATIO = 0.001;
/** Not published. What this machine carries over either protocol without a busy core; an RTT holds 800 kB of it. */
const RATE_MBPS = 100;

/** Lower ones near by, with loss: there one connection may fill the line between two losses, as it was published to. */
export const LOWER_RATES_MBPS = [50, 20] as const;

/** The share that CUBIC gives up: the published four, of which the first is the kernel's own. */
export const CUBIC_BETAS = [0.3, 0.2, 0.1, 0.02] as const;
/** Packets: a larger one than RFC 6928's 10, and more than the path holds. */
const INITIAL_WINDOWS = [100, 1_000] as const;

interface Size {
  readonly bytes: number;
  readonly betas: readonly number[];
  /** Without the growth that keeps CUBIC fair to Reno: with it a beta that is set while the kernel runs can hardly be slower. */
  readonly unfriendly: readonly number[];
  readonly windows: readonly number[];
  readonly rounds: number;
  readonly lossRatio: number;
}

const SIZES: Readonly<Record<LoadOptions["size"], Size>> = {
  // Of small images few are lost at 0.1 %.
  quick: { bytes: 50_000, betas: [0.3, 0.02], unfriendly: [0.2], windows: [100], rounds: 5, lossRatio: 0.01 },
  usual: {
    bytes: 2_500_000,
    betas: CUBIC_BETAS,
    unfriendly: [0.3, 0.2],
    windows: INITIAL_WINDOWS,
    rounds: 15,
    lossRatio: LOSS_RATIO,
  },
  full: {
    bytes: 2_500_000,
    betas: CUBIC_BETAS,
    unfriendly: [0.3, 0.2],
    windows: INITIAL_WINDOWS,
    rounds: 50,
    lossRatio: LOSS_RATIO,
  },
};

const over = (...arms: readonly Arm[]): readonly PlannedLoad[] => arms.map((arm) => ({ arm, flow: "trained" }));
const ALL = over("fixed-h1", "fixed-h2", "fixed-h3");

/** The published study of why one connection suffers (tcp-congestion): a page over TCP's windows, and over HTTP/3. */
export function tcpCongestion({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { bytes: usualBytes, betas, unfriendly, windows, rounds, lossRatio } = SIZES[size];
  const imageBytes = bytes ?? usualBytes;
  const network = (name: string, delayMs: number, loss: number, rateMbps = RATE_MBPS): Network => ({
    name,
    rateMbps,
    delayMs,
    lossRatio: loss,
    queueBytes: QUEUE_BYTES,
  });
  const far = (name: string): Network => network(name, FAR_DELAY_MS, lossRatio);
  const page = { imageBytes, images: IMAGES };
  const cells: Cell[] = [
    ...betas.map((beta): Cell => ({
      id: `beta-${beta}`,
      network: far(`beta-${beta}`),
      congestion: "cubic",
      ...page,
      isTraced: true,
      // The first is what the others stand beside: all protocols, and the machine's own beta.
      ...(beta === 0.3 ? { loads: ALL } : { tcp: { cubic: { beta } }, isAlone: beta < 0.2 }),
    })),
    ...unfriendly.map((beta): Cell => ({
      id: `unfriendly-${beta}`,
      network: far(`unfriendly-${beta}`),
      congestion: "cubic",
      ...page,
      isTraced: true,
      tcp: { cubic: { beta, isFriendly: false } },
    })),
    ...windows.map((packets): Cell => ({
      id: `window-${packets}`,
      network: far(`window-${packets}`),
      congestion: "cubic",
      ...page,
      isTraced: true,
      tcp: { initialWindow: packets },
    })),
    {
      id: "bbr",
      network: far("bbr"),
      congestion: "bbr",
      ...page,
      isTraced: true,
      isAlone: true,
      loads: over("fixed-h1", "fixed-h2"),
    },
    ...(
      [
        ["far-clean", FAR_DELAY_MS, 0],
        ["near-lossy", NEAR_DELAY_MS, lossRatio],
        ["near-clean", NEAR_DELAY_MS, 0],
      ] as const
    ).map(([name, delayMs, loss]): Cell => ({
      id: name,
      network: network(name, delayMs, loss),
      congestion: "cubic",
      ...page,
      isAlone: true,
      loads: ALL,
    })),
    ...LOWER_RATES_MBPS.map((rateMbps): Cell => ({
      id: `near-lossy-${rateMbps}`,
      network: network(`near-lossy-${rateMbps}`, NEAR_DELAY_MS, lossRatio, rateMbps),
      congestion: "cubic",
      ...page,
      loads: over("fixed-h1", "fixed-h2"),
    })),
  ];
  return {
    about: `a page of 12 images of ${imageBytes / 1e6} MB at 64 ms and ${lossRatio * 100} % loss, over what TCP does with its window`,
    loads: over("fixed-h2"),
    cells: cells.filter(({ congestion }) => congestions.includes(congestion)),
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 180_000,
    notes: [
      `The page is a small document and then ${IMAGES} images at the same time: all on one connection over HTTP/2 and HTTP/3, on six over HTTP/1.1. A load is timed from connection setup; the published time begins with the first image.`,
      `The published rate is not told; here it is ${RATE_MBPS} Mbit/s. The published largest window is 16 MB, as much as this path and its queue hold seven times over.`,
      "Ways that differ in a setting of the whole machine, and those that keep a core busy, were measured one after another; the others in turns.",
      ...(size === "usual"
        ? [
            `${rounds} loads of each, as one over HTTP/2 takes half a minute; \`--full\` makes 50. How many were published is not told.`,
          ]
        : []),
    ],
  };
}

export const experiment = defineLoads({ plan: tcpCongestion, summarise: congestionSummary, report: congestionReport });
