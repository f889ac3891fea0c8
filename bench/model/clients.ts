import { readFileSync } from "node:fs";
import { type BrowserPage, browserBytes } from "./browser-pages.ts";
import { type Cell, QUEUE_BYTES } from "./cell.ts";
import type { Device } from "./devices.ts";

/** A client that pages are measured for. */
export interface Client {
  readonly name: string;
  /** Which part of the population it is of. */
  readonly mix: string;
  readonly rttMs: number;
  readonly lossRatio: number;
  readonly rateMbps: number;
  /** Of a page: bytes of all its files, and how many these are. */
  readonly bytes: number;
  readonly files: number;
}

/** A client whose pages a browser loads. */
export interface BrowserClient extends Client {
  readonly browser: "chromium" | "firefox";
  readonly device: Device;
  /** What its network drops of UDP's packets alone: 0 mostly, 1 where UDP is blocked. */
  readonly udpLossRatio: number;
  /** How many visitors it stands for, of those that the description has: rare kinds are drawn more often than they visit. */
  readonly weight: number;
}

/** Drawn by `npm run bench -- draw-clients`, which writes them here. */
export const CLIENTS_FILE = new URL("clients.json", import.meta.url);
/** The same with `--browsers`. */
export const BROWSER_CLIENTS_FILE = new URL("browser-clients.json", import.meta.url);

export function readClients(): readonly Client[] {
  return JSON.parse(readFileSync(CLIENTS_FILE, "utf8")) as readonly Client[];
}

/** How many clients each draw has. Those of the third one judged a policy that took losses by their logarithm. */
const DRAWN = [112, 112, 144, 144] as const;
/** The shipped policy was made by the clients of these; those of the last draw judge it. */
export const CALIBRATING_DRAWS: readonly number[] = [1, 2];
export const JUDGING_DRAW = DRAWN.length;

/** @param draw From 1 to JUDGING_DRAW. */
export function readBrowserClients(draw: number): readonly BrowserClient[] {
  const all = JSON.parse(readFileSync(BROWSER_CLIENTS_FILE, "utf8")) as readonly BrowserClient[];
  const first = DRAWN.slice(0, draw - 1).reduce((sum, count) => sum + count, 0);
  return all.slice(first, first + (DRAWN[draw - 1] ?? 0));
}

const SIZES: readonly BrowserPage[] = ["small", "page", "large"];

/** What a browser loads for a client: the page whose size is nearest. */
export function pageOf({ bytes }: Pick<BrowserClient, "bytes">): BrowserPage {
  const away = (page: BrowserPage): number => Math.abs(Math.log(browserBytes(page) / bytes));
  return SIZES.reduce((nearest, page) => (away(page) < away(nearest) ? page : nearest));
}

/** Where a client is, and its pages. */
export function cellOf({ name, rttMs, lossRatio, rateMbps, bytes, files }: Client): Omit<Cell, "congestion"> {
  const network = { name, rateMbps, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
  return { id: name, network, imageBytes: Math.ceil(bytes / files), images: files };
}
