import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { Answer, OfferPlace, Treatment } from "./report.ts";

const NEVER: readonly Answer[] = ["none", "none", "none", "none", "none"];
const FIRST: readonly Answer[] = ["h3", "h3", "h3", "h3", "h3"];

function treatment(
  name: string,
  about: string,
  answers: readonly Answer[],
  pauseMs = 5_000,
  base = "never",
): Treatment {
  return { name, about, answers, pauseMs, base };
}

const TREATMENTS: readonly Treatment[] = [
  treatment("never", "never offered", NEVER),
  treatment("first", "offered from the first page on", FIRST),
  treatment("second", "offered from the second page on", ["none", ...FIRST.slice(1)]),
];

const TAKEN_BACK: readonly Answer[] = ["h3", "h3", "clear", "none", "none"];
const CLEARED = treatment("cleared", "offered from the first page on, and taken back on the third", TAKEN_BACK);

/** On two of the networks. */
const FURTHER: readonly Treatment[] = [
  CLEARED,
  ...["0.5 s", "40 s"].flatMap((pauses) => {
    const [pauseMs, base] = [1_000 * Number.parseFloat(pauses), `never, ${pauses}`];
    return [
      treatment(base, `never offered, pauses of ${pauses}`, NEVER, pauseMs, base),
      treatment(`first, ${pauses}`, `offered from the first page on, pauses of ${pauses}`, FIRST, pauseMs, base),
    ];
  }),
];

/** Where a return has three pages: the third page of a treatment is the return's first. */
const RETURNING = { pagesBefore: 2 };
const RETURNS: readonly Treatment[] = [
  treatment("never", "never offered", NEVER),
  treatment("first", "offered on every page", FIRST),
  treatment("cleared", "offered before the return, and taken back on the return's first page", TAKEN_BACK),
];
/** On one of the networks. */
const SILENT = treatment("silent", "offered before the return, which says nothing", ["h3", "h3", ...NEVER.slice(2)]);

/** Pauses of a quick run, and the wait before its returns, milliseconds. */
export const QUICK_MS = 500;

function network(rttMs: number, lossRatio = 0): Network {
  const name = `${rttMs} ms${lossRatio > 0 ? `, ${lossRatio * 100} % lost` : ""}`;
  return { name, rateMbps: 50, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
}

const CONGESTIONS = ["cubic", "bbr"] as const;

/** What is asked for. */
interface Asked {
  readonly visits: number;
  /** Whether it works, with short pauses and without the wait before a return. */
  readonly quick: boolean;
  /** Returns of three pages. */
  readonly returns: boolean;
}

export function placesOf({ visits, quick, returns }: Asked): readonly OfferPlace[] {
  if (quick) {
    const treatments = (returns ? [...RETURNS, SILENT] : [...TREATMENTS, CLEARED]).map((one) => ({
      ...one,
      pauseMs: QUICK_MS,
    }));
    return [{ network: network(2), congestion: "cubic", treatments, visits: 1, ...(returns && RETURNING) }];
  }
  return returns ? returnsOf(visits) : pagesOf(visits);
}

function returnsOf(visits: number): OfferPlace[] {
  const networks = [network(30), network(80), network(150), network(250), network(80, 0.01)];
  return networks.flatMap((one) => {
    const treatments = one.name === "80 ms" ? [...RETURNS, SILENT] : RETURNS;
    return CONGESTIONS.map((congestion) => ({ network: one, congestion, treatments, visits, ...RETURNING }));
  });
}

function pagesOf(visits: number): OfferPlace[] {
  const clean = [2, 30, 80, 150, 250].map((rttMs) => network(rttMs));
  const lossy = [30, 80, 150].map((rttMs) => network(rttMs, 0.01));
  return [...clean, ...lossy].flatMap((one) => {
    const treatments = ["30 ms", "150 ms"].includes(one.name) ? [...TREATMENTS, ...FURTHER] : TREATMENTS;
    return CONGESTIONS.map((congestion) => ({ network: one, congestion, treatments, visits }));
  });
}
