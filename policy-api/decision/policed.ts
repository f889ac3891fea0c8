import type { Evidence } from "./evidence.ts";
import { LOSS_NODES } from "./loss-nodes.ts";

/**
 * What a packet says beside an independent one: losses come in bursts, and many lost packets are fewer events. Policing of 2 % of UDP is
 * certain after two pages with 0.3 and not yet with 0.2: so it is 0.3, the smallest of the tried powers with which it is.
 */
const BURST_POWER = 0.3;

/** Reordering and a sender's own probing look like losses, this often on a clean path. */
const FLOOR = 0.0002;

/** A share of clients whose networks police UDP (assumed; published counts of networks without UDP are 3 to 5 %). */
const POLICED = 0.02;
/**
 * A QUIC sender that fills the path's queue in its slow start loses up to a tenth of all that it sends, once, and harms
 * nobody by it. So did a third of the recorded connections that sent 10 MB. The edge leaves such losses out
 * (infra/edge/internal/slowstart); who else counts, as Cloudflare does for reports, may not.
 */
const OVERSHOT = 0.33;

/** How many paths have each loss node (assumed). */
const PATHS = [0.6, 0.12, 0.1, 0.1, 0.05, 0.03] as const;
const NODES = PATHS.length;
/** What a network that polices, or a sender's slow start, may lose of QUIC's packets alone, equally likely. */
const QUIC_ALONE_LOSS = [0.02, 0.07, 0.2] as const;

/** What QUIC loses of its packets beside a loss node, in rows: nothing more than the path does, then each such loss. */
const QUIC_ROWS = [0, ...QUIC_ALONE_LOSS].map((more) =>
  LOSS_NODES.map((loss) => (more === 0 ? Math.max(loss, FLOOR) : loss + more - loss * more)),
);
/** By row and node: ln of the probability that a packet of QUIC is lost, or kept. TCP's are those of the first row. */
const lnLost = Float64Array.from(QUIC_ROWS.flat(), Math.log);
const lnKept = Float64Array.from(QUIC_ROWS.flat(), (loss) => Math.log1p(-loss));
/** Written anew in each call: to allocate it takes longer than to fill it. */
const logs = new Float64Array(lnLost.length);

/**
 * The probability that a client's network drops packets of QUIC alone: what was sent and lost over both protocols is likelier so than by any
 * loss of the path. 0 while QUIC has lost nothing. Pure.
 */
export function quicAlone({ tcp, quic, mayOvershoot }: Evidence): number {
  if (!(quic.lost > 0)) return 0;
  const [tcpKept, quicKept] = [tcp.sent - tcp.lost, quic.sent - quic.lost];
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < logs.length; i++) {
    const node = i % NODES;
    const ofTcp = tcp.lost * (lnLost[node] as number) + tcpKept * (lnKept[node] as number);
    const log = ofTcp + quic.lost * (lnLost[i] as number) + quicKept * (lnKept[i] as number);
    logs[i] = log;
    if (log > most) most = log;
  }
  const alone = POLICED + (mayOvershoot ? OVERSHOT : 0);
  let fair = 0;
  let total = 0;
  for (let i = 0; i < logs.length; i++) {
    const isFair = i < NODES;
    const prior = (PATHS[i % NODES] as number) * (isFair ? 1 - alone : alone / QUIC_ALONE_LOSS.length);
    const weight = prior * Math.exp(BURST_POWER * ((logs[i] as number) - most));
    if (isFair) fair += weight;
    total += weight;
  }
  // The sums are rounded: their ratio may be a little above 1.
  return Math.max(0, 1 - fair / total) * (POLICED / alone);
}
