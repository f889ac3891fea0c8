import { normalQuantile } from "../statistics/proportion.ts";
import { BROWSER_CLIENTS_FILE, type BrowserClient, type Client, CLIENTS_FILE } from "../../model/clients.ts";
import type { Device } from "../../model/devices.ts";
import { type MixDescription, type Population, readPopulation, type SpeedTest } from "../../model/population.ts";
import { writeFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { format } from "prettier";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { flag, readOptions, wholeNumber, words } from "../../model/options.ts";

/** The machine's own bounds: above, the cores are measured and not the path; below, a page takes minutes. */
const RATE_MAX_MBPS = 200;
const RATE_MIN_MBPS = 2;
/** The upper one where one page loads at a time. */
const BROWSER_RATE_MAX_MBPS = 500;
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
  browser: [23, 5],
  device: [29, 9],
  udp: [31, 6],
  policed: [37, 23],
} as const;
/** The first points of a Halton sequence lie on a line. */
const SKIPPED = 20;
/** Where the clients with browsers begin: what is drawn before was measured once, and the edge was mended by what it showed. */
const BROWSERS_FROM = SKIPPED + 256;

/** A kind of client: of all that are drawn its share, and of all that visit. */
type Kind<Name> = readonly [Name, drawn: number, visiting: number];
/** Assumed. Safari does not run here. */
const BROWSERS: readonly Kind<BrowserClient["browser"]>[] = [
  ["chromium", 0.85, 0.95],
  ["firefox", 0.15, 0.05],
];
const DEVICES: readonly Kind<Device>[] = [
  ["fast", 0.6, 0.7],
  ["half a core", 0.22, 0.2],
  ["quarter of a core", 0.18, 0.1],
];
/** Drawn so often; how often they visit the description says. */
const POLICED = 0.06;
const BLOCKED = 0.04;

/**
 * Draws clients evenly over a population, by a Halton sequence: as even in each of its dimensions as in all together. The
 * same numbers give the same clients. Pure.
 */
export function drawClients(population: Population, count: number): Client[] {
  return Array.from({ length: count }, (_, i) => drawClient(population, i + SKIPPED, RATE_MAX_MBPS));
}

/** The same with browsers, devices and what networks do to UDP. Pure. */
export function drawBrowserClients(population: Population, count: number): BrowserClient[] {
  const { blocked, policed, policedLossRatio } = population.description.udp;
  const udp: readonly Kind<"passes" | "policed" | "blocked">[] = [
    ["passes", 1 - POLICED - BLOCKED, 1 - policed - blocked],
    ["policed", POLICED, policed],
    ["blocked", BLOCKED, blocked],
  ];
  return Array.from({ length: count }, (_, i) => {
    const place = i + BROWSERS_FROM;
    const kindOf = <Name>(what: keyof typeof BASES, kinds: readonly Kind<Name>[]): Kind<Name> =>
      pick(kinds, ([, drawn]) => drawn, coordinate(place, what));
    const kinds = [kindOf("browser", BROWSERS), kindOf("device", DEVICES), kindOf("udp", udp)] as const;
    const [[browser], [device], [treated]] = kinds;
    const [low, high] = policedLossRatio;
    const drops = { passes: 0, policed: digits(low * (high / low) ** coordinate(place, "policed")), blocked: 1 };
    return {
      ...drawClient(population, place, BROWSER_RATE_MAX_MBPS),
      browser,
      device,
      udpLossRatio: drops[treated],
      weight: digits(kinds.reduce((product, [, drawn, visiting]) => (product * visiting) / drawn, 1)),
    };
  });
}

function coordinate(place: number, what: keyof typeof BASES): number {
  const [base, factor] = BASES[what];
  return radicalInverse(place, base, factor);
}

function drawClient({ description, tests }: Population, place: number, rateMaxMbps: number): Client {
  const at = (what: keyof typeof BASES): number => coordinate(place, what);
  const [mix, own] = pick(Object.entries(description.mixes), ([, { weight }]) => weight, at("mix"));
  const { rttMs, rateMbps } = lineOf(own, tests[mix] ?? [], at("rtt"), at("rate"), at("spread"));
  const { bytes, files } = description.page;
  const count = Math.round(quantileOf(files, at("files")));
  return {
    name: `${mix}-${place - SKIPPED}`,
    mix,
    rttMs: digits(rttMs),
    lossRatio: lossOf(own, at("stratum"), at("loss")),
    rateMbps: digits(Math.min(Math.max(rateMbps, RATE_MIN_MBPS), rateMaxMbps)),
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
  browsers: flag("those that `browser-clients` measures: with browsers, devices and networks that police UDP"),
};

/** Draws the clients that the experiments `clients` and `browser-clients` measure. @throws UserError */
export async function drawClientsCommand(args: readonly string[]): Promise<void> {
  const { population, clients, browsers } = readOptions(args, OPTIONS);
  if (population === undefined) throw new UserError("--population FILE says who visits.");
  const file = fileURLToPath(browsers ? BROWSER_CLIENTS_FILE : CLIENTS_FILE);
  const draw = browsers ? drawBrowserClients : drawClients;
  const drawn = draw(readPopulation(resolve(population)), clients);
  writeFileSync(file, await format(JSON.stringify(drawn), { parser: "json", printWidth: 160 }));
  console.log(`${relative(ROOT, file)}: ${drawn.length} clients.`);
}
