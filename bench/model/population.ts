import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { csvParse } from "d3-dsv";
import { UserError } from "../../base/user-error.ts";

interface Lognormal {
  readonly lognormal: { readonly median: number; readonly sigma: number };
  readonly bounds: readonly [low: number, high: number];
}
interface Uniform {
  readonly uniform: readonly [low: number, high: number];
}
/** `[from, to, share]`; inside a stratum log-uniform, but in the first one half of the clients lose nothing. */
type Stratum = readonly [from: number, to: number, share: number];

export interface MixDescription {
  readonly weight: number;
  readonly rttMs?: Lognormal | Uniform;
  readonly lossRatio: { readonly strata: readonly Stratum[] };
  readonly rateMbps?: Lognormal;
  /** RTT and rate measured together, in a file beside the description. */
  readonly rttAndRate?: { readonly file: string; readonly columns: readonly [rttMs: string, rateMbps: string] };
}

/** Who visits, how often, how far apart: a file of JSON that names its sources. */
export interface PopulationDescription {
  readonly mixes: Readonly<Record<string, MixDescription>>;
  readonly page: { readonly bytes: Lognormal; readonly files: Lognormal };
  readonly visit: {
    readonly pages: Readonly<Record<string, number>>;
    readonly pauseS: Lognormal;
    readonly returns: readonly { readonly afterS: number; readonly share: number }[];
    readonly newPathOnReturn: number;
  };
  readonly udp: {
    readonly blocked: number;
    readonly policed: number;
    /** What such a network drops of UDP's packets alone. */
    readonly policedLossRatio: readonly [low: number, high: number];
  };
  readonly behindSharedAddress: { readonly share: number; readonly devices: readonly [number, number] };
}

/** RTT and rate of one speed test. */
export interface SpeedTest {
  readonly rttMs: number;
  readonly rateMbps: number;
}

export interface Population {
  readonly description: PopulationDescription;
  /** By mix: its speed tests, sorted by RTT; empty where the mix has distributions instead. */
  readonly tests: Readonly<Record<string, readonly SpeedTest[]>>;
}

/** Reads a description and the files that it names. @throws UserError naming what cannot be read */
export function readPopulation(file: string): Population {
  try {
    const description = JSON.parse(readFileSync(file, "utf8")) as PopulationDescription;
    const tests = Object.entries(description.mixes).map(([name, { rttAndRate }]) => {
      if (rttAndRate === undefined) return [name, []] as const;
      const [rtt, rate] = rttAndRate.columns;
      const rows = csvParse(readFileSync(join(dirname(file), rttAndRate.file), "utf8"));
      const read = rows.map((row) => ({ rttMs: Number(row[rtt]), rateMbps: Number(row[rate]) }));
      return [name, read.filter(isPlausible).sort((a, b) => a.rttMs - b.rttMs)] as const;
    });
    return { description, tests: Object.fromEntries(tests) };
  } catch (error) {
    throw new UserError(`${file} describes no population: ${(error as Error).message}`);
  }
}

function isPlausible({ rttMs, rateMbps }: SpeedTest): boolean {
  return rttMs > 0 && rateMbps > 0;
}
