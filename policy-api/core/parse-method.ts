import { described, type Fault, integer, list, MAX, number, object, oneOf, optional, type Reader } from "./parse.ts";
import type { Method, RttThresholdMethod, ShareMethod, TimesMethod, ZeroLine, ZeroLinesMethod } from "./policy.ts";
import type { TimesLattice } from "./times.ts";

/** A day in milliseconds: no load takes longer. */
const TIME_MAX_MS = 86_400_000;
const AXIS_MAX = 64;
/** Nodes of a lattice. The times of both transports at this many nodes still fit into a request body of the API. */
const NODES_MAX = 4_096;
const LINES_MAX = 32;

const readAxis = (min: number, max: number): Reader<readonly number[]> => list(number(min, max), 1, AXIS_MAX);
/** A microsecond: no load takes less, and ratios of times stay finite. */
const TIME_MIN_MS = 0.001;
const readTimes = list(number(TIME_MIN_MS, TIME_MAX_MS), 1, NODES_MAX);
const readSe = optional(list(number(0, 100), 1, NODES_MAX));

const AXES = ["rttMs", "lossRatio", "deliveryRateBps", "contentBytes"] as const;
const LISTS = ["stayMs", "switchMs", "coldMs", "switchSe", "coldSe", "supported"] as const;

const readLatticeFields = object<TimesLattice>({
  rttMs: readAxis(0, MAX.rttMs),
  lossRatio: readAxis(0, 1),
  deliveryRateBps: readAxis(1, MAX.deliveryRateBps),
  contentBytes: readAxis(1, 1e12),
  stayMs: readTimes,
  switchMs: readTimes,
  coldMs: readTimes,
  switchSe: readSe,
  coldSe: readSe,
  supported: optional(list(integer(0, 1), 1, NODES_MAX)),
});

/** Reads a lattice of times. Its axes must increase, and its lists must have a figure for each node. */
export const readLattice: Reader<TimesLattice> = described((value, pointer, faults) => {
  const before = faults.length;
  const lattice = readLatticeFields(value, pointer, faults);
  if (faults.length > before) return lattice;
  for (const axis of AXES) requireIncreasing(lattice[axis], `${pointer}/${axis}`, faults);
  const nodes = AXES.reduce((product, axis) => product * lattice[axis].length, 1);
  for (const name of LISTS) {
    const length = lattice[name]?.length;
    if (length !== undefined && length !== nodes)
      faults.push({
        pointer: `${pointer}/${name}`,
        message: `must have a figure for each of ${nodes} nodes`,
        relation: true,
      });
  }
  return lattice;
}, readLatticeFields.schema);

function requireIncreasing(axis: readonly number[], pointer: string, faults: Fault[]): void {
  axis.forEach((value, i) => {
    if (i > 0 && value <= (axis[i - 1] ?? 0))
      faults.push({ pointer: `${pointer}/${i}`, message: "must be larger than the one before it", relation: true });
  });
}

const readZeroLineFields = object<ZeroLine>({
  deliveryRateBps: number(1, MAX.deliveryRateBps),
  rttMs: readAxis(0, MAX.rttMs),
  // Above 1: HTTP/3 is never faster at this RTT.
  lossRatio: readAxis(0, 2),
});

const readZeroLine: Reader<ZeroLine> = described((value, pointer, faults) => {
  const before = faults.length;
  const line = readZeroLineFields(value, pointer, faults);
  if (faults.length > before) return line;
  requireIncreasing(line.rttMs, `${pointer}/rttMs`, faults);
  if (line.lossRatio.length !== line.rttMs.length)
    faults.push({
      pointer: `${pointer}/lossRatio`,
      message: `must have a loss for each of ${line.rttMs.length} rttMs`,
      relation: true,
    });
  return line;
}, readZeroLineFields.schema);

const readTimesFields = object<TimesMethod>({
  kind: oneOf("times"),
  tcp: optional(readLattice),
  quic: optional(readLattice),
  switchRoundTrips: optional(number(0, 100)),
});

const READERS: Readonly<Record<Method["kind"], Reader<Method>>> = {
  times: described(
    (value, pointer, faults) => {
      const before = faults.length;
      const method = readTimesFields(value, pointer, faults);
      if (faults.length === before && method.tcp === undefined && method.quic === undefined)
        faults.push({ pointer, message: "must have times over what tcp or quic measures", relation: true });
      return method;
    },
    {
      ...readTimesFields.schema,
      anyOf: [{ required: ["tcp"] }, { required: ["quic"] }],
    },
  ),
  "zero-lines": object<ZeroLinesMethod>({ kind: oneOf("zero-lines"), lines: list(readZeroLine, 1, LINES_MAX) }),
  "rtt-threshold": object<RttThresholdMethod>({ kind: oneOf("rtt-threshold"), rttMs: number(0, MAX.rttMs) }),
  share: object<ShareMethod>({ kind: oneOf("share"), share: number(0, 1) }),
};

const readKind = oneOf<Method["kind"]>("times", "zero-lines", "rtt-threshold", "share");

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
