import type { Evidence } from "./evidence.ts";
import type { History } from "./facts.ts";
import { LOSS_NODES, NODES, zeros, meanLoss } from "./loss-nodes.ts";
import { type UpperLevel, UPPER_LEVELS } from "./mix.ts";
import type { Transport } from "./sample.ts";

/** What is thought of a client's path. */
export interface Belief {
  /** A probability for each loss node. They add up to 1. */
  readonly weights: readonly number[];
  /** The probability that the network drops QUIC's packets and not TCP's, from what QUIC measured; 0 without that. */
  readonly quicAlone: number;
  /** What it rests on, packets, faded and weighted by how near their RTTs are. */
  readonly packets: Readonly<Record<Transport, number>>;
}

/**
 * What a packet says beside an independent one: losses come in bursts, and many lost packets are fewer events. By counts of
 * paths with and without bursts (bench/results/variants) a belief is best with 0.05. Policing of 2 % of UDP is certain after two
 * pages with 0.3 and not yet with 0.2: so it is 0.3, the smallest of the tried powers with which it is.
 */
export const BURST_POWER = 0.3;

/**
 * How many clients the level above counts for in a level's prior. A network's own clients are its paths, and so they
 * outweigh their system's at a handful. One client that drops packets on purpose must not move its neighbours' answer.
 */
export const STRENGTHS = { site: 50, asn: 50, network: 20 } as const;

/** Reordering and a sender's own probing look like losses, this often on a clean path. */
export const FLOOR = 0.0002;

/** A share of clients whose networks police UDP (assumed; published counts of networks without UDP are 3 to 5 %). */
const POLICED = 0.02;
/**
 * A QUIC sender that fills the path's queue in its slow start loses up to a tenth of all that it sends, once, and harms
 * nobody by it. So did a third of the recorded connections that sent 10 MB.
 */
const OVERSHOT = 0.33;

/** What a network that polices, or a sender's slow start, may lose of QUIC's packets alone, equally likely. */
const QUIC_ALONE_LOSS = [0.02, 0.07, 0.2] as const;

/** What QUIC loses of its packets beside a loss node, in rows: nothing more than the path does, then each such loss. */
const QUIC_ROWS = [0, ...QUIC_ALONE_LOSS].map((more) =>
  LOSS_NODES.map((loss) => (more === 0 ? Math.max(loss, FLOOR) : loss + more - loss * more)),
);
const ROWS = QUIC_ROWS.length;
/** By row and node: ln of the probability that a packet of QUIC is lost, or kept. TCP's are those of the first row. */
const lnLost = Float64Array.from(QUIC_ROWS.flat(), Math.log);
const lnKept = Float64Array.from(QUIC_ROWS.flat(), (loss) => Math.log1p(-loss));

/**
 * Weighs the loss nodes: prior times the likelihood of what was sent and lost. The prior is the policy's mix, which the
 * site's own clients change, these its autonomous system's, and these its network's. Pure.
 *
 * @param mix The policy's: a weight for each node, adding up to 1.
 * @param evidence What the client's own connections say together.
 */
export function beliefOf(mix: readonly number[], history: History, evidence: Evidence): Belief {
  const prior = priorOf(mix, history);
  const packets = { tcp: evidence.tcp.sent, quic: evidence.quic.sent };
  if (packets.tcp + packets.quic === 0) return { weights: prior, quicAlone: 0, packets };
  const { weights, quicAlone } = posterior(prior, evidence);
  return { weights, quicAlone, packets };
}

/** The prior of a client: what is known of its site, its autonomous system and its network, each upon the one before. */
export function priorOf(mix: readonly number[], history: History): number[] {
  const prior = mix.slice();
  for (let i = UPPER_LEVELS.length - 1; i >= 0; i--) {
    const level = UPPER_LEVELS[i] as UpperLevel;
    const clients = history[level];
    if (clients === undefined) continue;
    const strength = STRENGTHS[level];
    let total = strength;
    for (let node = 0; node < NODES; node++) total += clients[node] ?? 0;
    for (let node = 0; node < NODES; node++)
      prior[node] = (strength * (prior[node] as number) + (clients[node] ?? 0)) / total;
  }
  return prior;
}

/** e^-40 of the likeliest is no weight. */
const NOTHING = -40;
/** Written anew in each call: to allocate it takes longer than to fill it. */
const logs = new Float64Array(ROWS * NODES);

function posterior(prior: readonly number[], evidence: Evidence): Pick<Belief, "weights" | "quicAlone"> {
  const { tcp, quic, mayOvershoot } = evidence;
  const [tcpKept, quicKept] = [tcp.sent - tcp.lost, quic.sent - quic.lost];
  // Without a lost packet over QUIC nothing speaks for more than the path's loss.
  const rows = quic.lost > 0 ? ROWS : 1;
  let most = Number.NEGATIVE_INFINITY;
  for (let node = 0; node < NODES; node++) {
    const ofTcp = tcp.lost * (lnLost[node] as number) + tcpKept * (lnKept[node] as number);
    for (let i = node; i < rows * NODES; i += NODES) {
      const log = ofTcp + quic.lost * (lnLost[i] as number) + quicKept * (lnKept[i] as number);
      logs[i] = log;
      if (log > most && (prior[node] as number) > 0) most = log;
    }
  }
  const alone = POLICED + (mayOvershoot ? OVERSHOT : 0);
  const weights = zeros();
  let fair = 0;
  let total = 0;
  for (let node = 0; node < NODES; node++) {
    const mine = prior[node] as number;
    if (!(mine > 0)) continue;
    let weight = mine * (1 - alone) * likelihood((logs[node] as number) - most);
    fair += weight;
    for (let i = node + NODES; i < rows * NODES; i += NODES)
      weight += mine * (alone / (ROWS - 1)) * likelihood((logs[i] as number) - most);
    weights[node] = weight;
    total += weight;
  }
  for (let node = 0; node < NODES; node++) weights[node] = (weights[node] as number) / total;
  // The sums are rounded: their ratio may be a little above 1.
  return { weights, quicAlone: Math.max(0, 1 - fair / total) * (POLICED / alone) };
}

/** Of a logarithm for independent packets, relative to the likeliest. */
function likelihood(log: number): number {
  return log * BURST_POWER < NOTHING ? 0 : Math.exp(BURST_POWER * log);
}

/** From so many packets on a client's own loss is known well enough to say at which of the nodes it is. */
const OWN_LOSS_PACKETS = 500;

/**
 * The mean loss that is thought of a client, 0 to 1. Undefined where too few of its packets were counted: then the belief is
 * mostly what is thought of others, a mixture of losses, and its mean is nobody's.
 */
export function ownLoss({ weights, packets }: Belief): number | undefined {
  return packets.tcp + packets.quic < OWN_LOSS_PACKETS ? undefined : meanLoss(weights);
}
