import type { CubicSettings } from "../lab/cubic.ts";
import type { Congestion } from "../lab/lane.ts";
import type { Arm, Quic } from "./arms.ts";
import type { Series } from "./series.ts";

/** What is asked of the path: the words and units of the published tables. */
export interface Network {
  readonly name: string;
  readonly rateMbps: number;
  /** One way, in both directions. */
  readonly delayMs: number;
  /** Random, on the data's direction. */
  readonly lossRatio: number;
  /** What may wait for the bottleneck in each direction, bytes. */
  readonly queueBytes: number;
  /** A path that changes: what is so from each time on, in both directions. */
  readonly profile?: readonly { readonly atMs: number; readonly rateMbps: number; readonly delayMs: number }[];
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
}

export const FLOWS = ["download", "reused", "moved", "resumed", "early", "trained", "trained-on-h2", "cold"] as const;

/** What a client does in one load; see flows.ts. */
export type Flow = (typeof FLOWS)[number];

/** One place of an experiment: a network, a server's congestion control and an object's size. */
export interface Cell {
  readonly id: string;
  readonly network: Network;
  readonly congestion: Congestion;
  readonly imageBytes: number;
  /** How many such images a page has, loaded in parallel; 1 unless told. */
  readonly images?: number;
  readonly tcp?: TcpSettings;
  /** Of the client's QUIC connections; quic-go's own choice, 7 MiB, unless told. */
  readonly udpReceiveBufferBytes?: number;
  /** Not beside others, although loss and delay alone would keep its loads slow. */
  readonly isAlone?: boolean;
  /** The first round's congestion windows over time are kept. */
  readonly isTraced?: boolean;
  /** Which loads are made here, where not all of the experiment's. */
  readonly loads?: readonly PlannedLoad[];
  /** Loads a round, by arm and flow (`adaptive/trained`), where one is not enough. */
  readonly perRound?: Readonly<Partial<Record<`${Arm}/${Flow}`, number>>>;
}

/** When a cell has been measured enough. */
export interface Allocation {
  /** Rounds before the first look; further looks are planned by stats/looks.ts. */
  readonly first: number;
  /** Rounds after which a comparison that is still open is a tie. */
  readonly cap: number;
  /** The comparisons that must be answered. */
  readonly comparisons: readonly { readonly flow: Flow; readonly a: Arm; readonly b: Arm }[];
}

/** An arm that runs a flow. */
export interface PlannedLoad {
  readonly arm: Arm;
  readonly flow: Flow;
}

export interface Experiment {
  readonly name: string;
  readonly about: string;
  /** Which arms run which flows: one load each a round, in random order. */
  readonly loads: readonly PlannedLoad[];
  readonly cells: readonly Cell[];
  /** How its report groups them, where it has the report of series. */
  readonly series?: readonly Series[];
  readonly allocation: Allocation;
  /** By cell: exactly so many rounds, instead of what the allocation asks for. */
  readonly rounds?: Readonly<Record<string, number>>;
  /** Whether HTTP/3 may be served by another QUIC than quic-go (`--quic`): its report names what serves. */
  readonly takesQuic?: boolean;
  /** What a load may take, milliseconds; what takes longer counts as this long, and as a timeout. */
  readonly timeoutMs: number;
  /** What the reader of the report should know of how this differs from what was published. */
  readonly notes: readonly string[];
}

/** What a person may ask of an experiment. */
export interface ExperimentOptions {
  readonly congestions: readonly Congestion[];
  /** The image's size, where another than the experiment's own is wanted. */
  readonly bytes: number | undefined;
  /** `quick`: whether it works, in a minute or two; `full`: as published, which may take days. */
  readonly size: "quick" | "usual" | "full";
  /** Who serves HTTP/3; quic-go unless told. */
  readonly quic?: Quic;
}

/** A few rounds, no more: nothing is answered by them. */
export const QUICK_ALLOCATION: Allocation = { first: 3, cap: 3, comparisons: [] };

/** As many as published, everywhere. */
export const FULL_ALLOCATION: Allocation = { first: 400, cap: 400, comparisons: [] };

/** The queue of netem's default limit, 1,000 packets: what published studies had that set no limit. */
export const QUEUE_BYTES = 1_500_000;

/** How many loads of an arm and flow a round of a cell has. */
export function loadsPerRound(cell: Cell, { arm, flow }: PlannedLoad): number {
  return cell.perRound?.[`${arm}/${flow}`] ?? 1;
}

/** What runs in a cell. */
export function loadsOf({ loads }: Pick<Experiment, "loads">, cell: Cell): readonly PlannedLoad[] {
  return cell.loads ?? loads;
}

/** When a cell has been measured enough. */
export function allocationOf({ allocation, rounds }: Experiment, { id }: Cell): Allocation {
  const given = rounds?.[id];
  return given === undefined ? allocation : { first: given, cap: given, comparisons: [] };
}

/** The experiment with exactly so many rounds in every cell. */
export function withRounds(experiment: Experiment, rounds: number): Experiment {
  return { ...experiment, rounds: {}, allocation: { first: rounds, cap: rounds, comparisons: [] } };
}

/** Every arm that runs somewhere. */
export function armsOf(experiment: Experiment): Arm[] {
  return [...new Set(experiment.cells.flatMap((cell) => loadsOf(experiment, cell).map(({ arm }) => arm)))];
}
