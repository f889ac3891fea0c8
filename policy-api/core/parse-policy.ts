import {
  type Fault,
  integer,
  list,
  number,
  object,
  oneOf,
  optional,
  parse,
  type Parsed,
  type Reader,
  text,
  withDefault,
} from "./parse.ts";
import { type ColdStart, INITIAL_POLICY, type Mode, MODES, type Policy, type Rule } from "./policy.ts";
import type { TimesTable } from "./times.ts";

/** A day: what CDNs advertise. Longer offers outlive every decision. */
const MA_MAX_S = 86_400;
/** A day in milliseconds: no load takes longer. */
const TIME_MAX_MS = 86_400_000;
const AXIS_MAX = 64;
const TABLES_MAX = 32;
const RULES_MAX = 100;

/** Reads a policy. Returns it, or every fault with the JSON pointer of its place. Never throws on data. */
export function parsePolicy(input: unknown): Parsed<Policy> {
  return parse(readPolicy, input);
}

const readMode = oneOf<Mode>(...MODES);
const readAxis = (min: number, max: number): Reader<readonly number[]> => list(number(min, max), 1, AXIS_MAX);
const readMatrix = list(list(number(Number.MIN_VALUE, TIME_MAX_MS), 1, AXIS_MAX), 1, AXIS_MAX);

const readTableFields = object<TimesTable>({
  source: text(500),
  stack: text(200),
  contentBytes: integer(1, 1e12),
  deliveryRateBps: number(1, 1.25e13),
  rttMs: readAxis(0, 3_600_000),
  lossRatio: readAxis(0, 1),
  stayMs: readMatrix,
  switchMs: readMatrix,
  coldMs: readMatrix,
});

const readTable: Reader<TimesTable> = (value, pointer, faults) => {
  const before = faults.length;
  const table = readTableFields(value, pointer, faults);
  if (faults.length > before) return table;
  for (const axis of ["rttMs", "lossRatio"] as const) requireIncreasing(table[axis], `${pointer}/${axis}`, faults);
  for (const name of ["stayMs", "switchMs", "coldMs"] as const) {
    if (table[name].length !== table.lossRatio.length)
      faults.push({
        pointer: `${pointer}/${name}`,
        message: `must have one row for each of ${table.lossRatio.length} lossRatio`,
      });
    table[name].forEach((row, i) => {
      if (row.length !== table.rttMs.length)
        faults.push({
          pointer: `${pointer}/${name}/${i}`,
          message: `must have one time for each of ${table.rttMs.length} rttMs`,
        });
    });
  }
  return table;
};

function requireIncreasing(axis: readonly number[], pointer: string, faults: Fault[]): void {
  axis.forEach((value, i) => {
    if (i > 0 && value <= (axis[i - 1] ?? 0))
      faults.push({ pointer: `${pointer}/${i}`, message: "must be larger than the one before it" });
  });
}

const readRule = object<Rule>({
  pathPrefix: optional(text(1000, /^\//, "a path that begins with /,")),
  asn: optional(list(integer(0, 4_294_967_295), 1, 1000)),
  country: optional(list(text(2, /^[A-Z]{2}$/, "a country code such as JP,"), 1, 300)),
  mode: readMode,
});

const readPolicyFields = object<Policy>({
  schema: oneOf(1),
  mode: readMode,
  times: withDefault(list(readTable, 0, TABLES_MAX), INITIAL_POLICY.times),
  coldStart: withDefault(
    object<ColdStart>({
      advertise: oneOf("h3", "nothing"),
      lossRatio: withDefault(number(0, 1), INITIAL_POLICY.coldStart.lossRatio),
      deliveryRateBps: withDefault(number(1, 1.25e13), INITIAL_POLICY.coldStart.deliveryRateBps),
    }),
    INITIAL_POLICY.coldStart,
  ),
  ma: withDefault(object<Policy["ma"]>({ minS: integer(1, MA_MAX_S), maxS: integer(1, MA_MAX_S) }), INITIAL_POLICY.ma),
  margin: withDefault(
    object<Policy["margin"]>({ enter: number(-1, 10), leave: number(-1, 10) }),
    INITIAL_POLICY.margin,
  ),
  exploration: withDefault(object<Policy["exploration"]>({ share: number(0, 1) }), INITIAL_POLICY.exploration),
  rules: withDefault(list(readRule, 0, RULES_MAX), INITIAL_POLICY.rules),
});

const readPolicy: Reader<Policy> = (value, pointer, faults) => {
  const before = faults.length;
  const policy = readPolicyFields(value, pointer, faults);
  // Conditions between fields: only where the fields themselves could be read.
  if (faults.length > before) return policy;
  if (policy.ma.minS > policy.ma.maxS) faults.push({ pointer: "/ma/minS", message: "must not be larger than maxS" });
  if (policy.margin.leave > policy.margin.enter)
    faults.push({ pointer: "/margin/leave", message: "must not be larger than enter" });
  const adaptive = policy.mode === "adaptive" || policy.rules.some((rule) => rule.mode === "adaptive");
  if (adaptive && policy.times.length === 0)
    faults.push({ pointer: "/times", message: "must hold at least one table where a mode is adaptive" });
  return policy;
};
