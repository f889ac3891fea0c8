import {
  boolean,
  described,
  fitting,
  integer,
  list,
  MAX,
  number,
  object,
  oneOf,
  optional,
  parse,
  type Parsed,
  type Read,
  type Reader,
  text,
  withDefault,
} from "./parse.ts";
import { readVisit } from "./visit.ts";

// The policy, defined once: each reader says which fields there are, their bounds, and by its type what the program gets.

const AXIS_MAX = 64;
const LINES_MAX = 32;
const RULES_MAX = 100;
const BYTES_MAX = 1e12;
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

const figures = (min: number, max: number): Reader<readonly (readonly (readonly number[])[])[]> =>
  list(list(list(number(min, max), 1, AXIS_MAX), 1, AXIS_MAX), 1, AXIS_MAX);

const readGains = object({
  /** A list for each size holds a list for each loss, and that a figure for each RTT. */
  gain: figures(-GAIN_MAX, GAIN_MAX),
  /** Standard errors, of the same shape. */
  se: figures(SE_MIN, GAIN_MAX),
});
/** Reads a gain table. Its axes must increase, and there must be a figure at each place. */
const readTable = fitting(
  object({
    rttMs: readAxis(0, MAX.rttMs),
    /** 0 to 1. */
    lossRatio: readAxis(0, 1),
    /** What a page transfers. */
    contentBytes: readAxis(1, BYTES_MAX),
    /** Of a visit's next pages, after an offer. */
    next: readGains,
    /** Of a return's first page, which begins on HTTP/3. */
    return: readGains,
    /** What the page that brings the offer loses to it, for each RTT: ln(its time with the offer / without). */
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
      const [page, name] = at.split("/") as ["next" | "return", "gain" | "se"];
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
  object({
    kind: oneOf("gains"),
    table: readTable,
    /** How many clients have each of the table's losses, as shares: what is thought of a client before it was measured. */
    mix: list(number(0, 1), 1, AXIS_MAX),
    /** Where the mix comes from, in words. */
    mixAbout: optional(text(1000)),
    /** What HTTP/3 carries at most, bytes per second: a receiver's processor takes QUIC's packets less fast than TCP's. Absent: any rate. */
    ceilingBps: optional(number(1, MAX.deliveryRateBps)),
  }),
  ({ mix, table }, fault) => {
    requireLength(mix, table.lossRatio.length, "lossRatio", "/mix", fault);
    const total = mix.reduce((sum, share) => sum + share, 0);
    if (Math.abs(total - 1) > 0.001) fault("/mix", `must add up to 1, not ${total}`);
  },
);
/** Gains that were measured on one stack: this project's own method. */
export type GainsMethod = Read<typeof readGainsMethod>;

const readZeroLine = fitting(
  object({
    deliveryRateBps: number(1, MAX.deliveryRateBps),
    /** Increasing. */
    rttMs: readAxis(0, MAX.rttMs),
    /** For each RTT, the loss above which HTTP/3 is faster. Above 1 if it never is. Linear in between. */
    lossRatio: readAxis(0, 2),
  }),
  ({ rttMs, lossRatio }, fault) => {
    requireIncreasing(rttMs, "/rttMs", fault);
    requireLength(lossRatio, rttMs.length, "rttMs", "/lossRatio", fault);
  },
);
/** Where both protocols take equally long, at one rate. HTTP/3 is offered beyond it. */
export type ZeroLine = Read<typeof readZeroLine>;

const readZeroLines = object({
  kind: oneOf("zero-lines"),
  lines: list(readZeroLine, 1, LINES_MAX),
  /** The answer to a client that was not measured yet. The published method begins on HTTP/3. */
  unknown: oneOf("h3", "nothing"),
});
/** The published method (Ohashi, Kitaguchi, Yamaoka 2020): one line for each rate that was measured. */
export type ZeroLinesMethod = Read<typeof readZeroLines>;

const METHODS = {
  gains: readGainsMethod,
  "zero-lines": readZeroLines,
  /** HTTP/3 if the RTT is at least this. */
  "rtt-threshold": object({ kind: oneOf("rtt-threshold"), rttMs: number(0, MAX.rttMs) }),
  /** HTTP/3 for a share of clients, whatever their paths. */
  share: object({ kind: oneOf("share"), share: number(0, 1) }),
} as const;
/** How an adaptive policy finds out for which clients HTTP/3 is faster. */
export type Method = Read<(typeof METHODS)[keyof typeof METHODS]>;

const readKind = oneOf<Method["kind"]>("gains", "zero-lines", "rtt-threshold", "share");

/** Reads a method. Its `kind` says which fields it has. */
const readMethod: Reader<Method> = described(
  (value, pointer, faults) => {
    const kind: unknown = typeof value === "object" && value !== null ? (value as { kind?: unknown }).kind : undefined;
    const before = faults.length;
    const known = readKind(kind, `${pointer}/kind`, faults);
    return faults.length > before ? (undefined as never) : METHODS[known](value, pointer, faults);
  },
  { oneOf: Object.values(METHODS).map(({ schema }) => schema) },
);

/**
 * `observe`: measure, and touch no header. `fixed-h2`: never offer, and take offers back. `fixed-h3`: always offer.
 * `adaptive`: offer if the policy's method says so.
 */
export const MODES = ["observe", "fixed-h2", "fixed-h3", "adaptive"] as const;
export type Mode = (typeof MODES)[number];

const readMode = oneOf(...MODES);
const readPathPrefix = text(1000, /^\//, "a path that begins with /,");

const readContentBytes = object({
  default: integer(1, BYTES_MAX),
  routes: withDefault(list(object({ pathPrefix: readPathPrefix, bytes: integer(1, BYTES_MAX) }), 0, RULES_MAX), []),
});

const readProvenance = object({
  /** Server software with versions. */
  stack: text(500),
  /** That of the server's TCP. */
  congestionControl: text(50),
  /** The QUIC sender, such as quic-go or quiche-bbr2. */
  quic: optional(text(50)),
  /** The command that made the policy. */
  command: text(2000),
  /** SHA-256 of the measurements that it was made from, hexadecimal. What visitors taught has none, and no loads and cells. */
  rowsSha256: optional(text(64, /^[0-9a-f]{64}$/, "a SHA-256 in hexadecimal,")),
  /** How many loads count. */
  loads: optional(integer(0, 1e9)),
  cells: optional(integer(0, 1e6)),
});
/** Where a policy's gains come from: of which stack they are, and how they were made. */
export type Provenance = Read<typeof readProvenance>;

const readRule = object({
  pathPrefix: optional(readPathPrefix),
  asn: optional(list(integer(0, 4_294_967_295), 1, 1000)),
  /** ISO 3166-1 alpha-2. */
  country: optional(list(text(2, /^[A-Z]{2}$/, "a country code such as JP,"), 1, 300)),
  mode: readMode,
});
/** Another mode for some requests. All its conditions must hold, and the first rule that matches counts. */
export type Rule = Read<typeof readRule>;

/** A day, which is what CDNs advertise. A longer offer would outlive too many decisions. */
export const MA_MAX_S = 86_400;

/** How long a worker isolate uses a policy before it asks for a newer one, milliseconds. */
export const POLICY_CACHE_MS = 15_000;
/**
 * From this age on, a request waits for a renewal (within the budget) before it uses a policy, milliseconds. So every
 * isolate obeys a change after this long, while the store answers.
 */
export const POLICY_OUTDATED_MS = 30_000;

const DEFAULTS = {
  contentBytes: { default: 1_000_000, routes: [] },
  visit: {
    pages: [0.45, 0.2, 0.15, 0.1, 0.1],
    returns: [
      { afterS: 600, share: 0.1 },
      { afterS: 10_800, share: 0.15 },
      { afterS: 86_400, share: 0.2 },
    ],
  },
  ma: { minS: 60, maxS: 3_600 },
  margin: { enter: 0.005, leave: -0.005 },
  exploration: { share: 0 },
  reports: { share: 0, inject: false },
  rules: [],
};

/** Reads a policy that is part of a larger value. */
export const readPolicy = fitting(
  object({
    schema: oneOf(3),
    mode: readMode,
    /** What it was made from, and by whom, in words. */
    source: optional(text(1000)),
    provenance: optional(readProvenance),
    /** Needed if any mode is adaptive. */
    method: optional(readMethod),
    /** What sessions transfer, bytes: that of the first route whose prefix begins the document's path, else the default. */
    contentBytes: withDefault(readContentBytes, DEFAULTS.contentBytes),
    /** How the site is visited. */
    visit: withDefault(readVisit, DEFAULTS.visit),
    /** Bounds of an offer's life (RFC 7838 section 3.1), seconds. */
    ma: withDefault(object({ minS: integer(1, MA_MAX_S), maxS: integer(1, MA_MAX_S) }), DEFAULTS.ma),
    /**
     * Hysteresis over the expected gain of the pages that an offer changes, ln(HTTP/2's time / HTTP/3's): an offer begins above `enter`,
     * and ends at or below `leave`.
     */
    margin: withDefault(object({ enter: number(-1, 10), leave: number(-1, 10) }), DEFAULTS.margin),
    /** The share of clients, 0 to 1, that draw their answer for a period of assignment, so that predictions can be checked. */
    exploration: withDefault(object({ share: number(0, 1) }), DEFAULTS.exploration),
    /**
     * The share of clients, 0 to 1, whose pages are asked to report how long they took. A client is in the share always or never. `inject`:
     * whether the worker puts the reporter's tag into the pages that it asks. Otherwise the owner has put it there.
     */
    reports: withDefault(
      object({ share: number(0, 1), inject: withDefault(boolean(), DEFAULTS.reports.inject) }),
      DEFAULTS.reports,
    ),
    rules: withDefault(list(readRule, 0, RULES_MAX), DEFAULTS.rules),
  }),
  ({ ma, margin, visit, mode, rules, method }, fault) => {
    if (ma.minS > ma.maxS) fault("/ma/minS", "must not be larger than maxS");
    if (margin.leave > margin.enter) fault("/margin/leave", "must not be larger than enter");
    const visits = visit.pages.reduce((sum, share) => sum + share, 0);
    if (Math.abs(visits - 1) > 0.001) fault("/visit/pages", `must add up to 1, not ${visits}`);
    if (isAdaptive({ mode, rules }) && method === undefined) fault("/method", "must be there where a mode is adaptive");
  },
);
export type Policy = Read<typeof readPolicy>;

/** Whether the method decides for anybody. */
export function isAdaptive({ mode, rules }: { readonly mode: Mode; readonly rules: readonly Rule[] }): boolean {
  return mode === "adaptive" || rules.some((rule) => rule.mode === "adaptive");
}

/** A stack that nobody has measured is only observed. */
export const INITIAL_POLICY: Policy = { schema: 3, mode: "observe", ...DEFAULTS };

/** Why a stored policy has no effect, as the end of a sentence. */
export const UNREADABLE = "cannot be read any more";

/** Reads a policy. Returns it, or every fault with its JSON pointer. Never throws on data. */
export function parsePolicy(input: unknown): Parsed<Policy> {
  return parse(readPolicy, input);
}
