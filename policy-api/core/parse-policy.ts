import {
  described,
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
import {
  type ColdStart,
  type ContentBytes,
  INITIAL_POLICY,
  MA_MAX_S,
  type Margin,
  type Mode,
  MODES,
} from "./policy.ts";
import type { Policy, Provenance, Rule } from "./policy.ts";
import { readLattice, readMethod } from "./parse-method.ts";

const RULES_MAX = 100;
const BYTES_MAX = 1e12;

/** Reads a policy. Returns it, or every fault with its JSON pointer. Never throws on data. */
export function parsePolicy(input: unknown): Parsed<Policy> {
  return parse(readPolicy, input);
}

const readMode = oneOf<Mode>(...MODES);
const readPathPrefix = text(1000, /^\//, "a path that begins with /,");

const readRule = object<Rule>({
  pathPrefix: optional(readPathPrefix),
  asn: optional(list(integer(0, 4_294_967_295), 1, 1000)),
  country: optional(list(text(2, /^[A-Z]{2}$/, "a country code such as JP,"), 1, 300)),
  mode: readMode,
});

const readContentBytes = object<ContentBytes>({
  default: integer(1, BYTES_MAX),
  routes: withDefault(
    list(
      object<ContentBytes["routes"][number]>({ pathPrefix: readPathPrefix, bytes: integer(1, BYTES_MAX) }),
      0,
      RULES_MAX,
    ),
    [],
  ),
});

const readProvenance = object<Provenance>({
  stack: text(500),
  congestionControl: text(50),
  command: text(2000),
  rowsSha256: text(64, /^[0-9a-f]{64}$/, "a SHA-256 in hexadecimal,"),
  loads: integer(0, 1e9),
  cells: integer(0, 1e6),
});

const readPolicyFields = object<Policy>({
  schema: oneOf(2),
  mode: readMode,
  source: optional(text(1000)),
  provenance: optional(readProvenance),
  method: optional(readMethod),
  contentBytes: withDefault(readContentBytes, INITIAL_POLICY.contentBytes),
  coldStart: withDefault(
    object<ColdStart>({
      advertise: oneOf("h3", "nothing"),
      mix: optional(text(1000)),
      times: optional(readLattice),
    }),
    INITIAL_POLICY.coldStart,
  ),
  ma: withDefault(object<Policy["ma"]>({ minS: integer(1, MA_MAX_S), maxS: integer(1, MA_MAX_S) }), INITIAL_POLICY.ma),
  margin: withDefault(
    object<Margin>({
      enter: number(-1, 10),
      leave: number(-1, 10),
      standardErrors: withDefault(number(0, 10), INITIAL_POLICY.margin.standardErrors),
    }),
    INITIAL_POLICY.margin,
  ),
  exploration: withDefault(object<Policy["exploration"]>({ share: number(0, 1) }), INITIAL_POLICY.exploration),
  rules: withDefault(list(readRule, 0, RULES_MAX), INITIAL_POLICY.rules),
});

/** Reads a policy that is part of a larger value. */
export const readPolicy: Reader<Policy> = described((value, pointer, faults) => {
  const before = faults.length;
  const policy = readPolicyFields(value, pointer, faults);
  // Conditions between fields are checked only if the fields themselves could be read.
  if (faults.length > before) return policy;
  const fault = (field: string, message: string): void =>
    void faults.push({ pointer: pointer + field, message, relation: true });
  if (policy.ma.minS > policy.ma.maxS) fault("/ma/minS", "must not be larger than maxS");
  if (policy.margin.leave > policy.margin.enter) fault("/margin/leave", "must not be larger than enter");
  requireOneValue(policy.coldStart, `${pointer}/coldStart/times`, faults);
  const adaptive = policy.mode === "adaptive" || policy.rules.some((rule) => rule.mode === "adaptive");
  if (adaptive && policy.method === undefined) fault("/method", "must be there where a mode is adaptive");
  return policy;
}, readPolicyFields.schema);

/** A cold start has no loss and no rate to look up: these axes must have one value. */
function requireOneValue({ times }: ColdStart, pointer: string, faults: Fault[]): void {
  for (const axis of ["lossRatio", "deliveryRateBps"] as const)
    if (times !== undefined && times[axis].length !== 1)
      faults.push({ pointer: `${pointer}/${axis}`, message: "must have one value in a cold start", relation: true });
}
