import { described, fitting, list, MAX, number, object, oneOf, optional, type Reader, text } from "./parse.ts";
import type { Gains, GainTable } from "./gain-table.ts";
import type { GainsMethod, Method, RttThresholdMethod, ShareMethod, ZeroLine, ZeroLinesMethod } from "./policy.ts";

const AXIS_MAX = 64;
const LINES_MAX = 32;
/** e^10: no protocol is 22,000 times as fast as the other. */
const GAIN_MAX = 10;
/** Nothing that was measured is more certain: a standard error of 0 is a missing one. */
const SE_MIN = 1e-6;

const readAxis = (min: number, max: number): Reader<readonly number[]> => list(number(min, max), 1, AXIS_MAX);

type AddFault = (place: string, message: string) => void;

function requireIncreasing(axis: readonly number[], place: string, fault: AddFault): void {
  axis.forEach((value, i) => {
    if (i > 0 && value <= (axis[i - 1] ?? 0)) fault(`${place}/${i}`, "must be larger than the one before it");
  });
}

function requireLength(found: readonly unknown[], length: number, of: string, place: string, fault: AddFault): void {
  if (found.length !== length) fault(place, `must have one for each of ${length} ${of}`);
}

const figures = (min: number, max: number): Reader<Gains["gain"]> =>
  list(list(list(number(min, max), 1, AXIS_MAX), 1, AXIS_MAX), 1, AXIS_MAX);

const readGains = object<Gains>({ gain: figures(-GAIN_MAX, GAIN_MAX), se: figures(SE_MIN, GAIN_MAX) });

/** Reads a gain table. Its axes must increase, and there must be a figure at each place. */
const readTable = fitting(
  object<GainTable>({
    rttMs: readAxis(0, MAX.rttMs),
    lossRatio: readAxis(0, 1),
    contentBytes: readAxis(1, 1e12),
    next: readGains,
    return: readGains,
    price: list(number(-GAIN_MAX, GAIN_MAX), 1, AXIS_MAX),
    priceSe: list(number(SE_MIN, GAIN_MAX), 1, AXIS_MAX),
  }),
  (table, fault) => {
    const { rttMs, lossRatio, contentBytes } = table;
    for (const [name, axis] of Object.entries({ rttMs, lossRatio, contentBytes }))
      requireIncreasing(axis, `/${name}`, fault);
    for (const name of ["price", "priceSe"] as const)
      requireLength(table[name], rttMs.length, "rttMs", `/${name}`, fault);
    for (const at of ["next/gain", "next/se", "return/gain", "return/se"] as const) {
      const [page, name] = at.split("/") as ["next" | "return", keyof Gains];
      const lists = table[page][name];
      requireLength(lists, contentBytes.length, "contentBytes", `/${at}`, fault);
      for (const [i, losses] of lists.entries()) {
        requireLength(losses, lossRatio.length, "lossRatio", `/${at}/${i}`, fault);
        for (const [j, rtts] of losses.entries()) requireLength(rtts, rttMs.length, "rttMs", `/${at}/${i}/${j}`, fault);
      }
    }
  },
);

const readGainsMethod = fitting(
  object<GainsMethod>({
    kind: oneOf("gains"),
    table: readTable,
    mix: list(number(0, 1), 1, AXIS_MAX),
    mixAbout: optional(text(1000)),
  }),
  ({ mix, table }, fault) => {
    requireLength(mix, table.lossRatio.length, "lossRatio", "/mix", fault);
    const total = mix.reduce((sum, share) => sum + share, 0);
    if (Math.abs(total - 1) > 0.001) fault("/mix", `must add up to 1, not ${total}`);
  },
);

const readZeroLine = fitting(
  object<ZeroLine>({
    deliveryRateBps: number(1, MAX.deliveryRateBps),
    rttMs: readAxis(0, MAX.rttMs),
    // Above 1: HTTP/3 is never faster at this RTT.
    lossRatio: readAxis(0, 2),
  }),
  ({ rttMs, lossRatio }, fault) => {
    requireIncreasing(rttMs, "/rttMs", fault);
    requireLength(lossRatio, rttMs.length, "rttMs", "/lossRatio", fault);
  },
);

const READERS: Readonly<Record<Method["kind"], Reader<Method>>> = {
  gains: readGainsMethod,
  "zero-lines": object<ZeroLinesMethod>({
    kind: oneOf("zero-lines"),
    lines: list(readZeroLine, 1, LINES_MAX),
    unknown: oneOf("h3", "nothing"),
  }),
  "rtt-threshold": object<RttThresholdMethod>({ kind: oneOf("rtt-threshold"), rttMs: number(0, MAX.rttMs) }),
  share: object<ShareMethod>({ kind: oneOf("share"), share: number(0, 1) }),
};

const readKind = oneOf<Method["kind"]>("gains", "zero-lines", "rtt-threshold", "share");

/** Reads a method. Its `kind` says which fields it has. */
export const readMethod: Reader<Method> = described(
  (value, pointer, faults) => {
    const kind: unknown = typeof value === "object" && value !== null ? (value as { kind?: unknown }).kind : undefined;
    const before = faults.length;
    const known = readKind(kind, `${pointer}/kind`, faults);
    return faults.length > before ? (undefined as never) : READERS[known](value, pointer, faults);
  },
  { oneOf: Object.values(READERS).map(({ schema }) => schema) },
);
