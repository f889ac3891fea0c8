import { type Network, QUEUE_BYTES } from "../../model/cell.ts";

/** `ours`: k6 with its extension (quic-go, Go's HTTP/2). `theirs`: client.py (aioquic, h2). */
export const CLIENTS = ["ours", "theirs"] as const;
export type Client = (typeof CLIENTS)[number];

export const PROTOCOLS = ["h2", "h3"] as const;
export type CrossProtocol = (typeof PROTOCOLS)[number];

/** A network, and how many loads of each client and protocol are wanted on it. */
export interface Setting {
  readonly network: Network;
  readonly runs: number;
}

/** The object of every load. */
export const OBJECT_BYTES = 1_000_000;
/** What takes longer has failed: the slowest of these loads takes some seconds. */
export const TIMEOUT_MS = 30_000;

function setting(name: string, delayMs: number, lossRatio: number, runs: number): Setting {
  return { network: { name, rateMbps: 20, delayMs, lossRatio, queueBytes: QUEUE_BYTES }, runs };
}

/** Lossy loads are heavy-tailed, so they are more. */
const USUAL = [setting("near", 10, 0, 12), setting("near-lossy", 10, 0.02, 30), setting("far", 40, 0, 12)];
/** Whether it works, in seconds: too few to compare by. */
const QUICK = [setting("near", 10, 0, 3)];

export const NETWORK_NAMES = USUAL.map(({ network }) => network.name);

export function settingsOf({ quick, networks }: { quick: boolean; networks: readonly string[] }): readonly Setting[] {
  return (quick ? QUICK : USUAL).filter(({ network }) => networks.includes(network.name));
}
