import type { Arm } from "./arm.ts";
import type { Congestion } from "./congestion.ts";
import type { Flow } from "./flow.ts";

/** What CUBIC does; unless given, what Linux does by default. */
export interface CubicSettings {
  /** The share of the window that is given up at a loss. */
  readonly beta?: number;
  /** Whether the window grows at least as Reno's would (RFC 9438, section 4.3). */
  readonly isFriendly?: boolean;
}

/** What a path that changes is from a time on. */
export interface ProfileStep {
  readonly atMs: number;
  readonly rateMbps: number;
  readonly delayMs: number;
  /** The network's own, unless given. */
  readonly lossRatio?: number;
}

/** What is asked of the path: the words and units of the published tables. */
export interface Network {
  readonly name: string;
  readonly rateMbps: number;
  /** One way, in both directions. */
  readonly delayMs: number;
  /** By how much a packet's delay may differ, either way, in both directions; packets keep their order. */
  readonly jitterMs?: number;
  /** Random, on the data's direction. */
  readonly lossRatio: number;
  /** Of UDP alone, on the data's direction: a network that polices it. */
  readonly udpLossRatio?: number;
  /** The same by a token bucket: its rate, and what it holds. */
  readonly udpRateMbps?: number;
  readonly udpBurstBytes?: number;
  /** The largest IP packet of UDP that passes, in both directions. */
  readonly udpMaxBytes?: number;
  /** What may wait for the bottleneck in each direction, bytes. */
  readonly queueBytes: number;
  /** How it waits: drop-tail, unless given. */
  readonly queue?: "fq_codel";
  /** Who else uses the path, in experiments that say so: one download over TCP, of a server with cubic. */
  readonly crossTraffic?: "tcp";
  /** A path that changes: what is so from each time on, in both directions. */
  readonly profile?: readonly ProfileStep[];
  /** After which it begins anew; loads begin anywhere in it, those of a turn at the same moment. */
  readonly profileRepeatMs?: number;
}

/** What a place asks of the server's TCP beside the congestion control's name. */
export interface TcpSettings {
  /**
   * What CUBIC does, where not Linux' own: it gives up 0.3 of its window at a loss (RFC 9438's beta of 0.7 is what is kept). A
   * setting of the machine, so that cells with another are measured after one another.
   */
  readonly cubic?: CubicSettings;
  /** What a connection begins with, packets; undefined: 10 (RFC 6928). A route's `initcwnd`. */
  readonly initialWindow?: number;
  /** Whether a connection that has rested begins with its first window again; Linux' own: it does (tcp_slow_start_after_idle). */
  readonly slowStartAfterIdle?: boolean;
}

/** One place of an experiment: a network, a server's congestion control and an object's size. */
export interface Cell {
  readonly id: string;
  readonly network: Network;
  readonly congestion: Congestion;
  readonly imageBytes: number;
  /** How many such images a page has, loaded in parallel; 1 by default. */
  readonly images?: number;
  readonly tcp?: TcpSettings;
  /** Of the client's QUIC connections; quic-go's own choice, 7 MiB by default. */
  readonly udpReceiveBufferBytes?: number;
  /**
   * Whether its loads run beside no others. By default: where the network is fast enough for one load to keep the machine busy. False: they
   * rest for most of their time.
   */
  readonly isAlone?: boolean;
  /** The first round's congestion windows over time are kept. */
  readonly isTraced?: boolean;
  /** Which loads are made here, where not all of the experiment's. */
  readonly loads?: readonly PlannedLoad[];
  /** Loads a round, by arm and flow (`adaptive/trained`), where one is not enough. */
  readonly perRound?: Readonly<Partial<Record<`${Arm}/${Flow}`, number>>>;
}

/** An arm that runs a flow. */
export interface PlannedLoad {
  readonly arm: Arm;
  readonly flow: Flow;
}

/** The queue of netem's default limit, 1,000 packets: what published studies had that set no limit. */
export const QUEUE_BYTES = 1_500_000;

/** The nine networks of the published evaluation: 200 Mbit/s, three losses, three delays, numbered as there. */
export const NINE_NETWORKS = [0, 0.025, 0.05]
  .flatMap((lossRatio) => [0, 12.5, 25].map((delayMs) => ({ lossRatio, delayMs })))
  .map(({ lossRatio, delayMs }, i) => ({
    name: `${i + 1}`,
    rateMbps: 200,
    delayMs,
    lossRatio,
    queueBytes: QUEUE_BYTES,
  }));
