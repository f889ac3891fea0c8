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

const dumbbell = (name: string, delayMs: number, lossRatio: number): Network => ({
  name,
  rateMbps: 20,
  delayMs,
  lossRatio,
  queueBytes: QUEUE_BYTES,
});

/** Lossy loads are heavy-tailed, so they are more. */
const USUAL: readonly Setting[] = [
  { network: dumbbell("near", 10, 0), runs: 12 },
  { network: dumbbell("near-lossy", 10, 0.02), runs: 30 },
  { network: dumbbell("far", 40, 0), runs: 12 },
];

/** Whether it works, in seconds: too few to compare by. */
const QUICK: readonly Setting[] = USUAL.slice(0, 1).map((setting) => ({ ...setting, runs: 3 }));

export function settingsOf({
  quick,
  networks,
}: {
  quick: boolean;
  networks: readonly string[] | undefined;
}): readonly Setting[] {
  return (quick ? QUICK : USUAL).filter(({ network }) => networks?.includes(network.name) ?? true);
}
