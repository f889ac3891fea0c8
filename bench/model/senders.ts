import type { Arm } from "./arm.ts";
import type { Cell } from "./cell.ts";
import { type Congestion, CONGESTIONS } from "./congestion.ts";
import type { Flow } from "./flow.ts";

/** A QUIC server that is measured by itself, and its arm. None has a worker behind it, as HTTP/2's has none then. */
export const QUIC_ARMS = {
  "quic-go": "bare-h3",
  "quiche-cubic": "quiche-cubic",
  "quiche-bbr2": "quiche-bbr2",
} as const satisfies Readonly<Record<string, Arm>>;
export type QuicSender = keyof typeof QUIC_ARMS;
export const QUIC_SENDERS = Object.keys(QUIC_ARMS) as QuicSender[];

/** Who sends a page: a server's TCP with a congestion control, or a QUIC server. */
export type Sender = Congestion | QuicSender;
export const SENDERS: readonly Sender[] = [...CONGESTIONS, ...QUIC_SENDERS];

/** Who sent a load of these experiments. Undefined: no sender of theirs. */
export function senderOf(arm: Arm, congestion: Congestion): Sender | undefined {
  if (arm === "bare") return congestion;
  return QUIC_SENDERS.find((name) => QUIC_ARMS[name] === arm);
}

/**
 * The cell of each congestion control of TCP in which its own loads are made. A QUIC server has a congestion control of its
 * own: its loads are made once, beside those of the first TCP.
 */
export function cellsBySender(cell: Omit<Cell, "congestion">, congestions: readonly Congestion[], flow: Flow): Cell[] {
  return congestions.map((congestion, i) => ({
    ...cell,
    id: `${cell.id}-${congestion}`,
    congestion,
    loads: [{ arm: "bare", flow }, ...(i === 0 ? Object.values(QUIC_ARMS).map((arm) => ({ arm, flow })) : [])],
  }));
}
