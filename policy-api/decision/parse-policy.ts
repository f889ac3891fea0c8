import {
  boolean,
  fitting,
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
import { type ContentBytes, INITIAL_POLICY, MA_MAX_S, type Margin, type Mode, MODES } from "./policy.ts";
import type { Policy, Provenance, Reports, Rule } from "./policy.ts";
import { readMethod } from "./parse-method.ts";
import type { VisitProfile } from "./visit.ts";

const RULES_MAX = 100;
const BYTES_MAX = 1e12;

/** Why a stored policy has no effect, as the end of a sentence. */
export const UNREADABLE = "cannot be read any more";

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

const readVisit = object<VisitProfile>({
  pages: list(number(0, 1), 1, 100),
  returns: withDefault(
    list(object<VisitProfile["returns"][number]>({ afterS: number(1, 1e8), share: number(0, 1) }), 0, 20),
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

const readReports = object<Reports>({
  share: number(0, 1),
  inject: withDefault(boolean(), INITIAL_POLICY.reports.inject),
});

/** Reads a policy that is part of a larger value. */
export const readPolicy: Reader<Policy> = fitting(
  object<Policy>({
    schema: oneOf(3),
    mode: readMode,
    source: optional(text(1000)),
    provenance: optional(readProvenance),
    method: optional(readMethod),
    contentBytes: withDefault(readContentBytes, INITIAL_POLICY.contentBytes),
    visit: withDefault(readVisit, INITIAL_POLICY.visit),
    ma: withDefault(
      object<Policy["ma"]>({ minS: integer(1, MA_MAX_S), maxS: integer(1, MA_MAX_S) }),
      INITIAL_POLICY.ma,
    ),
    margin: withDefault(object<Margin>({ enter: number(-1, 10), leave: number(-1, 10) }), INITIAL_POLICY.margin),
    exploration: withDefault(object<Policy["exploration"]>({ share: number(0, 1) }), INITIAL_POLICY.exploration),
    reports: withDefault(readReports, INITIAL_POLICY.reports),
    rules: withDefault(list(readRule, 0, RULES_MAX), INITIAL_POLICY.rules),
  }),
  ({ ma, margin, visit, mode, rules, method }, fault) => {
    if (ma.minS > ma.maxS) fault("/ma/minS", "must not be larger than maxS");
    if (margin.leave > margin.enter) fault("/margin/leave", "must not be larger than enter");
    const visits = visit.pages.reduce((sum, share) => sum + share, 0);
    if (Math.abs(visits - 1) > 0.001) fault("/visit/pages", `must add up to 1, not ${visits}`);
    const isAdaptive = mode === "adaptive" || rules.some((rule) => rule.mode === "adaptive");
    if (isAdaptive && method === undefined) fault("/method", "must be there where a mode is adaptive");
  },
);
