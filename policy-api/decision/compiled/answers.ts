import { altSvcValue } from "../alt-svc.ts";
import { DRAWN_ARMS, type DrawnArm } from "../assignment.ts";
import { decide, drawnArm } from "../decide.ts";
import type { Fault } from "../parse.ts";
import type { Policy } from "../policy.ts";
import type { Transport } from "../sample.ts";

/** RTTs from `from` to before `to`, in a rule's whole units. */
export interface RttSpan {
  readonly from: number;
  readonly to: number;
}

/** A value of Alt-Svc, and the RTTs at which a rule sets it. */
export interface RuleAnswer {
  readonly value: string;
  /** Increasing. Undefined: at all of them, and where no RTT is known. */
  readonly spans?: readonly RttSpan[] | undefined;
}

/** What a rule answers a request that came over TCP, and one over QUIC. Where no answer has the RTT, it sets nothing. */
export type RuleAnswers = Readonly<Record<Transport, readonly RuleAnswer[]>>;

/** Servers know an RTT in whole milliseconds or microseconds. */
export type RttUnit = "ms" | "us";
const UNITS_IN_MS: Readonly<Record<RttUnit, number>> = { ms: 1, us: 1_000 };

/** No decision believes a longer RTT, milliseconds: beyond it one is as good as another. */
const MOST_MS = 60_001;
/** Two RTTs of which one is this much longer have no third answer between them (a gain table has a figure for a factor of two or so). */
const STEP = 1.0005;
/** The port of browsers' https URLs. */
const PORT = 443;

/**
 * What an adaptive policy answers a client whom nobody remembers, by the RTT of its connection alone. That is all that a rule
 * of a server can know. Pure.
 *
 * @param policy One of which notCompiled() says nothing.
 */
export function answersOf(policy: Policy, unit: RttUnit): RuleAnswers {
  const of = (transport: Transport): readonly RuleAnswer[] => {
    const known = spansOf((rtt) => valueAt(policy, transport, rtt / UNITS_IN_MS[unit]), MOST_MS * UNITS_IN_MS[unit]);
    const values = [...new Set(known.map(({ value }) => value))].filter((value) => value !== undefined);
    const [only] = known;
    if (known.length === 1 && only?.value !== undefined) return [{ value: only.value }];
    return values.map((value) => ({
      value,
      spans: known.filter((one) => one.value === value).map(({ from, to }) => ({ from, to })),
    }));
  };
  return { tcp: of("tcp"), quic: of("quic") };
}

/** The Alt-Svc of a response to a client whom nobody remembers. */
export function valueAt(policy: Policy, transport: Transport, rttMs: number): string | undefined {
  const { advertise } = decide({ transport, rttMs, path: "/" }, { state: "unknown" }, policy, 0, undefined);
  return altSvcValue(advertise, PORT);
}

/** From 1 on, where the value changes: looked for in small steps, and then halved to a unit. */
function spansOf(
  valueOf: (rtt: number) => string | undefined,
  most: number,
): readonly (RttSpan & { readonly value: string | undefined })[] {
  const spans: (RttSpan & { readonly value: string | undefined })[] = [];
  let from = 1;
  let value = valueOf(1);
  for (let low = 1; low < most;) {
    const high = Math.min(most, Math.max(low + 1, Math.floor(low * STEP)));
    if (valueOf(high) !== value) {
      const to = firstOther(valueOf, low, high);
      spans.push({ from, to, value });
      from = to;
      value = valueOf(to);
      low = to;
    } else low = high;
  }
  return [...spans, { from, to: Infinity, value }];
}

/** The first RTT above `low`, and not above `high`, whose value is not that of `low`. */
function firstOther(valueOf: (rtt: number) => string | undefined, low: number, high: number): number {
  const before = valueOf(low);
  let [same, other] = [low, high];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (valueOf(middle) === before) same = middle;
    else other = middle;
  }
  return other;
}

/** A rule draws one of so many whole numbers for a client, from 0 on. */
export const DRAWS = 1_000_000;

/** What a rule answers the clients who drew a number from `from` to before `to`, whatever their RTT. */
export interface DrawnAnswer {
  readonly arm: DrawnArm;
  readonly from: number;
  readonly to: number;
  readonly value: string;
}

/**
 * The arms of a policy that draws clients, by its exploration or by the method `share`: at each number n as the policy draws and answers at
 * n / DRAWS. Empty: it draws nobody. Pure.
 *
 * @param policy One of which notCompiled() says nothing.
 */
export function drawnAnswersOf(policy: Policy): readonly DrawnAnswer[] {
  if (!draws(policy)) return [];
  const arms = DRAWN_ARMS.map((arm) => ({ arm, value: drawnValue(policy, arm) }));
  const endOfOffer = firstDraw((draw) => drawnAt(policy, draw) !== "offer");
  const withheldFrom = firstDraw((draw) => drawnAt(policy, draw) === "withhold");
  const spans: Readonly<Record<DrawnArm, Pick<DrawnAnswer, "from" | "to">>> = {
    offer: { from: 0, to: endOfOffer },
    withhold: { from: withheldFrom, to: DRAWS },
  };
  return arms.map(({ arm, value }) => ({ arm, ...spans[arm], value }));
}

/** The arm of a client that drew this number. Undefined: it is in none. */
export function drawnAt(policy: Policy, draw: number): DrawnArm | undefined {
  const unit = draw / DRAWS;
  if (policy.method?.kind === "share") return unit < policy.method.share ? "offer" : "withhold";
  return drawnArm(policy, unit);
}

/** The Alt-Svc of a response to a client that drew this number: over TCP and over QUIC the same. */
export function drawnValueAt(policy: Policy, transport: Transport, draw: number): string | undefined {
  const unit = draw / DRAWS;
  // A client may hold an offer from before these rules, or from a draw by another address. A rule remembers neither, so it withholds by `clear`.
  const request = { transport, path: "/", shareUnit: unit, earlierOffersUntilMs: 1 };
  return altSvcValue(decide(request, { state: "unknown" }, policy, 0, unit).advertise, PORT);
}

function drawnValue(policy: Policy, arm: DrawnArm): string {
  const value = drawnValueAt(policy, "tcp", arm === "offer" ? 0 : DRAWS - 1);
  // Both arms say something, as a client may hold an offer.
  if (value === undefined) throw new Error(`the arm ${arm} says nothing`);
  return value;
}

function draws({ mode, method, exploration }: Policy): boolean {
  if (mode !== "adaptive") return false;
  return exploration.share > 0 || (method?.kind === "share" && method.share > 0 && method.share < 1);
}

/** The first number at which something holds that holds for all later ones, too. DRAWS: at none. */
function firstDraw(holds: (draw: number) => boolean): number {
  let [low, high] = [0, DRAWS];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * What of a policy no rule can do. None: it can be compiled. Pure.
 *
 * @param canDraw Whether the server's rules can draw clients.
 */
export function notCompiled(
  { mode, method, contentBytes, exploration, reports, rules }: Policy,
  canDraw: boolean,
): Fault[] {
  const isShare = mode === "adaptive" && method?.kind === "share";
  const faults: readonly (readonly [isThere: boolean, pointer: string, message: string])[] = [
    [mode === "observe", "/mode", "sets no header, so that there is nothing to compile"],
    [isShare && !canDraw, "/method/kind", "a rule of this server cannot draw clients"],
    [exploration.share > 0 && !canDraw, "/exploration/share", "a rule of this server cannot draw arms: it must be 0"],
    [
      exploration.share > 0 && canDraw && (isShare || mode !== "adaptive"),
      "/exploration/share",
      isShare
        ? "a rule draws a client once, which the method share does: it must be 0"
        : "a fixed mode has no arms: it must be 0",
    ],
    [
      exploration.share > 0 && exploration.share < LEAST_SHARE && canDraw,
      "/exploration/share",
      `a rule draws by millionths: it must be ${LEAST_SHARE} at least`,
    ],
    [
      reports.share > 0 && !(canDraw && exploration.share > 0),
      "/reports/share",
      `a rule cannot ask pages to report${canDraw ? ", only those of clients that it draws (exploration.share)" : ""}: it must be 0`,
    ],
    [
      reports.share > 0 && reports.share < 1 && canDraw && exploration.share > 0,
      "/reports/share",
      "all pages of the clients that a rule draws report, or none: it must be 1 or 0",
    ],
    [
      reports.share > 0 && reports.inject,
      "/reports/inject",
      "a rule cannot put the script into pages: it must be false",
    ],
    [
      contentBytes.routes.length > 0,
      "/contentBytes/routes",
      "a rule knows one size of a page, the default: it must be empty",
    ],
    [rules.length > 0, "/rules", "a rule looks at the RTT alone: it must be empty"],
  ];
  return faults.flatMap(([isThere, pointer, message]) => (isThere ? [{ pointer, message }] : []));
}

/** Of smaller shares the arms would differ by a hundredth or more, as they are whole numbers of draws. */
const LEAST_SHARE = 0.0002;
