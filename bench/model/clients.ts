import { readFileSync } from "node:fs";
import { type Cell, QUEUE_BYTES } from "./cell.ts";

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

/** Drawn by `npm run bench -- draw-clients`, which writes them here. */
export const CLIENTS_FILE = new URL("clients.json", import.meta.url);

export function readClients(): readonly Client[] {
  return JSON.parse(readFileSync(CLIENTS_FILE, "utf8")) as readonly Client[];
}

/** Where a client is, and its pages. */
export function cellOf({ name, rttMs, lossRatio, rateMbps, bytes, files }: Client): Omit<Cell, "congestion"> {
  const network = { name, rateMbps, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
  return { id: name, network, imageBytes: Math.ceil(bytes / files), images: files };
}
