import type { Arm } from "../../model/arm.ts";
import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { BrowserPage } from "../../model/browser-pages.ts";
import type { Congestion } from "../../model/congestion.ts";
import type { LoadOptions } from "../../model/load-experiment.ts";
import { PUBLISHED_LOADS } from "./published.ts";

/** Where browsers load pages, and how often. */
export interface Place {
  readonly network: Network;
  readonly congestion: Congestion;
  readonly pages: readonly BrowserPage[];
  readonly arms: readonly Arm[];
  /** Of each page and arm. */
  readonly visits: number;
  /** Between two navigations of a visit: on the paths where a decision is to be made, long enough for the edge to tell of the first. */
  readonly pausesMs: readonly number[];
  /** Its loads keep the machine busy, so that nothing may run beside. */
  readonly isAlone: boolean;
}

const FIXED = ["fixed-h2", "fixed-h3", "always-offer"] as const satisfies readonly Arm[];
const ALL = [...FIXED, "adaptive"] as const satisfies readonly Arm[];
/** Where HTTP/2 is faster, and a DNS record has brought the browser to HTTP/3. */
const FILES = ["files-h2"] as const satisfies readonly Arm[];

/** One more navigation, as soon as the connections are at rest. */
const AGAIN: readonly number[] = [500];
/**
 * The first visit is measured when its connection has rested for 5 s (infra/edge), and decided on with the second
 * navigation's answer, which is for the third. After a pause as long as visitors make TCP with cubic begins its window anew.
 */
const AGAIN_MEASURED: readonly number[] = [6_500, 5_000];

function network(name: string, rateMbps: number, delayMs: number, lossRatio = 0): Network {
  return { name, rateMbps, delayMs, lossRatio, queueBytes: QUEUE_BYTES };
}

/**
 * `wired` and `unlimited`: the published fast line (browser-page: 900 and 350 Mbit/s, a CDN's edge nearby), as a path that this
 * machine keeps and as fast as it is. `distant`, `lossy`: where the published measurement did not look.
 */
export function placesOf(size: LoadOptions["size"]): readonly Place[] {
  if (size === "quick") return quickPlaces();
  const pages = ["page", "document", "images"] as const;
  const most = (usual: number): number => (size === "full" ? PUBLISHED_LOADS : usual);
  const fast = { congestion: "cubic", pages, visits: PUBLISHED_LOADS, pausesMs: AGAIN, isAlone: true } as const;
  // A visit over HTTP/2 with loss and cubic takes half a minute.
  const far = { pages: ["page"], arms: ALL, visits: most(16), pausesMs: AGAIN_MEASURED, isAlone: false } as const;
  return [
    { ...fast, network: network("wired", 200, 1), arms: [...FIXED, ...FILES] },
    // Without always-offer, which is fixed-h3 after its first visit.
    { ...fast, network: network("unlimited", 10_000, 0), arms: [...FIXED.slice(0, 2), ...FILES], visits: most(20) },
    { ...far, network: network("distant", 50, 75), congestion: "cubic" },
    { ...far, network: network("lossy", 20, 15, 0.02), congestion: "cubic" },
    { ...far, network: network("lossy", 20, 15, 0.02), congestion: "bbr", arms: [...ALL, ...FILES] },
  ];
}

/** Whether it works, without the waits: no navigation after the edge has told of the first, and a tenth of the loss. */
function quickPlaces(): readonly Place[] {
  const quick = { pages: ["page"], visits: 2, congestion: "cubic", pausesMs: AGAIN, isAlone: false } as const;
  const far = { ...quick, arms: ALL };
  return [
    { ...quick, network: network("wired", 200, 1), arms: [...FIXED, ...FILES], isAlone: true },
    { ...far, network: network("distant", 50, 75) },
    { ...far, network: network("lossy", 20, 15, 0.002) },
    { ...far, network: network("lossy", 20, 15, 0.002), congestion: "bbr", arms: [...ALL, ...FILES] },
  ];
}

export function placeId({ network: { name }, congestion }: Place): string {
  return `${name}-${congestion}`;
}

/** Whether it is a path where something is to be decided, of which nothing was published. */
export function isFar({ arms }: Place): boolean {
  return arms.includes("adaptive");
}

/** The number of the last navigation of a visit: of a browser that knows the site. */
export function lastOf({ pausesMs }: Place): number {
  return pausesMs.length + 1;
}
