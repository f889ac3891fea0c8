import { normalQuantile } from "../statistics/proportion.ts";
import { type Client, CLIENTS_FILE } from "../../model/clients.ts";
import { type MixDescription, type Population, readPopulation, type SpeedTest } from "../../model/population.ts";
import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { readOptions, wholeNumber, words } from "../../model/options.ts";

/** The machine's own bounds: above, the cores are measured and not the path; below, a page takes minutes. */
const RATE_MAX_MBPS = 200;
const RATE_MIN_MBPS = 2;
/** A speed test stands for lines like it: RTT and rate are spread by this, as deviations of logarithms. */
const SPREAD = 0.15;
/** A loss below this is met by no page of the size of these. */
const LOSS_MIN = 0.00005;

/**
 * A base of the Halton sequence for each thing that is drawn, and a factor for its digits: in large bases neighbours would
 * otherwise go up together (Braaten and Weller 1979).
 */
const BASES = {
  mix: [2, 1],
  rtt: [3, 2],
  stratum: [5, 3],
  loss: [7, 5],
  rate: [11, 8],
  bytes: [13, 6],
  files: [17, 10],
  spread: [19, 15],
} as const;
/** The first points of a Halton sequence lie on a line. */
const SKIPPED = 20;

/**
 * Draws clients evenly over a population, by a Halton sequence: as even in each of its dimensions as in all together. The
 * same numbers give the same clients. Pure.
 */
export function drawClients(population: Population, count: number): Client[] {
  return Array.from({ length: count }, (_, i) => drawClient(population, i + SKIPPED));
}

function drawClient({ description, tests }: Population, place: number): Client {
  const at = (what: keyof typeof BASES): number => {
    const [base, factor] = BASES[what];
    return radicalInverse(place, base, factor);
  };
  const [mix, own] = pick(Object.entries(description.mixes), ([, { weight }]) => weight, at("mix"));
  const { rttMs, rateMbps } = lineOf(own, tests[mix] ?? [], at("rtt"), at("rate"), at("spread"));
  const { bytes, files } = description.page;
  const count = Math.round(quantileOf(files, at("files")));
  return {
    name: `${mix}-${place - SKIPPED}`,
    mix,
    rttMs: digits(rttMs),
    lossRatio: lossOf(own, at("stratum"), at("loss")),
    rateMbps: digits(Math.min(Math.max(rateMbps, RATE_MIN_MBPS), RATE_MAX_MBPS)),
    bytes: Math.round(quantileOf(bytes, at("bytes"))),
    files: count,
  };
}

function lineOf(
  { rttMs, rateMbps }: MixDescription,
  tests: readonly SpeedTest[],
  rttAt: number,
  rateAt: number,
  spreadAt: number,
): SpeedTest {
  if (rttMs !== undefined && rateMbps !== undefined)
    return { rttMs: quantileOf(rttMs, rttAt), rateMbps: quantileOf(rateMbps, rateAt) };
  const test = tests[Math.floor(rttAt * tests.length)];
  if (test === undefined) throw new Error("a mix has neither distributions nor speed tests");
  return {
    rttMs: test.rttMs * Math.exp(SPREAD * normalQuantile(rateAt)),
    rateMbps: test.rateMbps * Math.exp(SPREAD * normalQuantile(spreadAt)),
  };
}

function lossOf({ lossRatio: { strata } }: MixDescription, stratumAt: number, lossAt: number): number {
  const stratum = pick(strata, ([, , share]) => share, stratumAt);
  const [from, to] = stratum;
  const isFirst = stratum === strata[0];
  if (isFirst && lossAt < 0.5) return 0;
  const within = isFirst ? 2 * lossAt - 1 : lossAt;
  const low = Math.max(from, LOSS_MIN);
  return digits(low * (to / low) ** within);
}

function quantileOf(
  distribution:
    | {
        readonly lognormal: { readonly median: number; readonly sigma: number };
        readonly bounds: readonly [number, number];
      }
    | { readonly uniform: readonly [number, number] },
  probability: number,
): number {
  if ("uniform" in distribution) {
    const [low, high] = distribution.uniform;
    return low + probability * (high - low);
  }
  const { lognormal, bounds } = distribution;
  const drawn = lognormal.median * Math.exp(lognormal.sigma * normalQuantile(probability));
  return Math.min(Math.max(drawn, bounds[0]), bounds[1]);
}

function pick<T>(items: readonly T[], weightOf: (item: T) => number, unit: number): T {
  const total = items.reduce((sum, item) => sum + weightOf(item), 0);
  let left = unit * total;
  for (const item of items) {
    left -= weightOf(item);
    if (left < 0) return item;
  }
  const last = items.at(-1);
  if (last === undefined) throw new Error("nothing to draw from");
  return last;
}

/**
 * A whole number's digits in a base, each times a factor modulo the base, mirrored at the point (Halton 1960): 6 = 110 in
 * base 2 gives 0.011 = 3/8.
 */
export function radicalInverse(place: number, base: number, factor = 1): number {
  let [inverse, worth, left] = [0, 1 / base, place];
  while (left > 0) {
    inverse += (((left % base) * factor) % base) * worth;
    left = Math.floor(left / base);
    worth /= base;
  }
  return inverse;
}

function digits(value: number): number {
  return Number(value.toPrecision(3));
}

const OPTIONS = {
  population: words("FILE", "who visits: a description, JSON", undefined),
  clients: wholeNumber("how many are drawn (64)", [1, 1_000], 64),
};

/** Draws the clients that the experiment `clients` measures. @throws UserError */
export async function drawClientsCommand(args: readonly string[]): Promise<void> {
  const { population, clients } = readOptions(args, OPTIONS);
  if (population === undefined) throw new UserError("--population FILE says who visits.");
  const file = fileURLToPath(CLIENTS_FILE);
  const drawn = drawClients(readPopulation(resolve(population)), clients);
  writeFileSync(file, await format(JSON.stringify(drawn), { parser: "json", printWidth: 160 }));
  console.log(`${relative(ROOT, file)}: ${drawn.length} clients.`);
}
