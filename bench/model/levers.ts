import type { Arm } from "./arm.ts";
import type { TcpSettings } from "./cell.ts";
import type { Congestion } from "./congestion.ts";
import { QUIC_ARMS } from "./senders.ts";

/** One way to send a site's pages: a protocol, and what its sender does. */
export interface Lever {
  readonly id: string;
  /** In tables. */
  readonly name: string;
  readonly arm: Arm;
  /** Of the server's TCP. */
  readonly congestion: Congestion;
  readonly tcp: Omit<TcpSettings, "cubic">;
}

/** Packets. quic-go begins with so many (its initialCongestionWindow); TCP with 10 (RFC 6928), quiche too. */
const QUIC_WINDOW = 32;

/** What Linux does by default: what every lever is beside. */
export const BASE = "cubic";

const tcpLever = (id: string, congestion: Congestion, tcp: Lever["tcp"] = {}, name = id): Lever => ({
  id,
  name,
  arm: "bare",
  congestion,
  tcp,
});

/** TCP's, then QUIC's. tcp_slow_start_after_idle does nothing to bbr (net/ipv4/tcp.c): it is set where both are, all the same. */
export const LEVERS: readonly Lever[] = [
  tcpLever(BASE, "cubic"),
  tcpLever("cubic-steady", "cubic", { slowStartAfterIdle: false }, "cubic, no slow start after a pause"),
  tcpLever("cubic-window", "cubic", { initialWindow: QUIC_WINDOW }, `cubic, first window of ${QUIC_WINDOW}`),
  tcpLever("bbr", "bbr"),
  tcpLever("bbr-both", "bbr", { slowStartAfterIdle: false, initialWindow: QUIC_WINDOW }, "bbr, both"),
  ...Object.entries(QUIC_ARMS).map(([id, arm]): Lever => ({ id, name: id, arm, congestion: "cubic", tcp: {} })),
];
