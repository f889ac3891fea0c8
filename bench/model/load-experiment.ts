import type { Arm, Quic } from "./arm.ts";
import type { Cell, PlannedLoad } from "./cell.ts";
import type { Congestion } from "./congestion.ts";
import type { Flow } from "./flow.ts";
import type { Load } from "./plan.ts";
import type { Series } from "./series.ts";

/** When a cell has been measured enough. */
export interface Allocation {
  /** Rounds before the first look; further looks are planned by analysis/statistics/allocation.ts. */
  readonly first: number;
  /** Rounds after which a comparison that is still open is a tie. */
  readonly cap: number;
  /** The comparisons that must be answered. */
  readonly comparisons: readonly { readonly flow: Flow; readonly a: Arm; readonly b: Arm }[];
}

export interface LoadExperiment {
  /** Which arms run which flows: one load each a round, in random order. */
  readonly loads: readonly PlannedLoad[];
  readonly cells: readonly Cell[];
  /**
   * What a client does with an offer. `background`, as browsers do, where it is left out. `wait`: in what
   * repeats published work, and in what offers nothing and was recorded before there was another way.
   */
  readonly switch?: Load["switch"];
  /** How its report groups them, where it has the report of series. */
  readonly series?: readonly Series[];
  readonly allocation: Allocation;
  /** An arm that lacks rows that count after so many loads for each is given up, as the machine is too busy for it: 2 unless given. */
  readonly attemptsPerRow?: number;
  /** By cell: exactly so many rounds, instead of what the allocation asks for. */
  readonly rounds?: Readonly<Record<string, number>>;
  /** Whether HTTP/3 may be served by another QUIC than quic-go (`--quic`): its report names what serves. */
  readonly takesQuic?: boolean;
  /** What a load may take, milliseconds; what takes longer counts as this long, and as a timeout. */
  readonly timeoutMs: number;
  /** What the reader of the report should know of how this differs from what was published; false: a note that does not hold here. */
  readonly notes: readonly (string | false)[];
}

/** What a person may ask of an experiment. */
export interface LoadOptions {
  readonly congestions: readonly Congestion[];
  /** The image's size, where another than the experiment's own is wanted. */
  readonly bytes: number | undefined;
  /** `quick`: whether it works, in a minute or two; `full`: as published, which may take days. */
  readonly size: "quick" | "usual" | "full";
  /** Who serves HTTP/3; quic-go by default. */
  readonly quic?: Quic;
}

/** A quick run has a few rounds, by which nothing is answered; a full one has as many as published, everywhere. */
export const ALLOCATIONS = {
  quick: { first: 3, cap: 3, comparisons: [] },
  full: { first: 400, cap: 400, comparisons: [] },
} as const satisfies Readonly<Record<string, Allocation>>;

/** How many loads of an arm and flow a round of a cell has. */
export function loadsPerRound(cell: Cell, { arm, flow }: PlannedLoad): number {
  return cell.perRound?.[`${arm}/${flow}`] ?? 1;
}

/** What runs in a cell. */
export function loadsOf({ loads }: Pick<LoadExperiment, "loads">, cell: Cell): readonly PlannedLoad[] {
  return cell.loads ?? loads;
}

/** When a cell has been measured enough. */
export function allocationOf({ allocation, rounds }: LoadExperiment, { id }: Cell): Allocation {
  const given = rounds?.[id];
  return given === undefined ? allocation : { first: given, cap: given, comparisons: [] };
}

/** The experiment with exactly so many rounds in every cell. */
export function withRounds(experiment: LoadExperiment, rounds: number): LoadExperiment {
  return { ...experiment, rounds: {}, allocation: { first: rounds, cap: rounds, comparisons: [] } };
}

/** Every arm that runs somewhere. */
export function armsOf(experiment: LoadExperiment): Arm[] {
  return [...new Set(experiment.cells.flatMap((cell) => loadsOf(experiment, cell).map(({ arm }) => arm)))];
}
