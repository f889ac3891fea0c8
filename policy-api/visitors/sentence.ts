import { type Claim, type Objection, objectionText } from "./compare.ts";
import type { StackChange, UseChange } from "./effect-changes.ts";
import type { Harm } from "./harm.ts";
import type { Estimate, Interval } from "./intervals.ts";
import { RTT_CLASS_MS, rttClassText } from "./row-keys.ts";

/** What is said of the clients of a version. */
interface Said {
  /** Of the store. */
  readonly objects: { readonly asked: number; readonly answered: number };
  /** Of both arms. */
  readonly clients: number;
  /** What forbids every claim. */
  readonly objections: readonly Objection[];
  readonly everyone: Claim;
  readonly rttClasses: readonly Claim[];
}

/**
 * What can be said, as one sentence. It claims what the claims do, and no more: percentages are rounded outwards, and where
 * neighbouring classes of RTT say the same, their interval holds all of theirs. Pure.
 */
export function sentenceOf({ objects, clients, objections, everyone: claim, rttClasses }: Said): string {
  if (objects.asked > 0 && objects.answered === 0) return "Nothing can be said: none of the store's objects answered.";
  if (clients === 0) return "Nothing can be said yet: this version has no clients that were drawn.";
  if (objections.length > 0) {
    const isEarly = objections.every(({ kind }) => kind === "too-few-new-clients");
    return `${isEarly ? "Nothing can be said yet" : "Nothing may be claimed"}: ${reasons(objections)}.`;
  }
  const groups = grouped(rttClasses);
  const isSilent = groups.every(({ kind }) => kind === "none");
  if (claim.kind === "none" && isSilent) return `Nothing can be said yet: ${reasons(claim.objections)}.`;
  const silent = groups.filter(({ kind }) => kind === "none").map(rangeText);
  const parts: string[] = [];
  const say = (whom: string, kind: "faster" | "slower", interval: Interval): void => {
    const isFirst = !parts.some((part) => part.includes("HTTP/3"));
    const what =
      kind === "faster"
        ? `saves ${savedText(interval)}${isFirst ? " of the load time" : ""}`
        : `makes pages take ${slowedText(interval)} longer`;
    parts.push(`${whom} ${isFirst ? "offering HTTP/3" : "it"} ${what}`);
  };
  if (claim.kind === "none") parts.push("In all, nothing can be said yet");
  else say("In all,", claim.kind, claim.interval);
  for (const { kind, interval, ...range } of groups)
    if (kind !== "none" && interval !== undefined) say(`for visitors ${withRttText(range)}`, kind, interval);
  if (silent.length > 0)
    parts.push(
      isSilent
        ? "by RTT nothing can be said yet"
        : `nothing can be said yet of those ${silent.join(" or of those ")} as a whole`,
    );
  return `${parts.join("; ")}.`;
}

/** Neighbouring classes of RTT whose claims are of one kind. */
interface Group {
  readonly kind: Claim["kind"];
  readonly first: number;
  readonly last: number;
  /** That holds the intervals of all of them. */
  readonly interval: Interval | undefined;
}

function grouped(classes: readonly Claim[]): Group[] {
  const groups: Group[] = [];
  for (const [rttClass, claim] of classes.entries()) {
    const interval = claim.kind === "none" ? undefined : claim.interval;
    const before = groups.at(-1);
    if (before?.kind === claim.kind)
      groups[groups.length - 1] = { ...before, last: rttClass, interval: hull(before.interval, interval) };
    else groups.push({ kind: claim.kind, first: rttClass, last: rttClass, interval });
  }
  return groups;
}

function hull(a: Interval | undefined, b: Interval | undefined): Interval | undefined {
  return a && b && { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
}

/** `with an RTT under 30 ms`, `at every RTT` */
function withRttText(range: Pick<Group, "first" | "last">): string {
  const isAll = range.first === 0 && range.last === RTT_CLASS_MS.length;
  return isAll ? "at every RTT" : `with an RTT ${rangeText(range)}`;
}

/** `under 30 ms`, `from 30 to 80 ms`, `from 80 ms on` */
function rangeText({ first, last }: Pick<Group, "first" | "last">): string {
  const [from, to] = [RTT_CLASS_MS[first - 1], RTT_CLASS_MS[last]];
  if (from === undefined) return `under ${to} ms`;
  return to === undefined ? `from ${from} ms on` : `from ${from} to ${to} ms`;
}

function reasons(objections: readonly Objection[]): string {
  return objections.map(reason).join("; and ");
}

/** An objection as the end of a sentence. */
function reason(objection: Objection): string {
  if (objection.kind === "not-shown")
    return `offering HTTP/3 may save anything from ${mayBeSavedText(objection.interval)} of the load time`;
  const text = objectionText(objection)
    .replace(/\.$/, "")
    .replaceAll(". ", ", and ")
    .replace(", and With", ", and with");
  return text.replace(/^[A-Z]/, (letter) => letter.toLowerCase());
}

// Gains as shares of time. A gain of 0.1 is a page in exp(-0.1) of the time: 9.5 % of it is saved.

/** The share of time that a gain saves. Below 0: how much more time it takes. */
export function savedBy(gain: number): number {
  return 1 - Math.exp(-gain);
}

/** `6 to 11 %`: the share of time that gains above 0 save, rounded outwards. */
export function savedText({ low, high }: Interval): string {
  return percentRange(savedBy(low), savedBy(high));
}

/** `6 to 11 %`: how much longer pages take by gains below 0, rounded outwards. */
export function slowedText({ low, high }: Interval): string {
  return percentRange(-savedBy(high), -savedBy(low));
}

/** `-1.2 to 3.4 %`: what gains of either sign save, rounded outwards. */
export function mayBeSavedText({ low, high }: Interval): string {
  return `${(Math.floor(savedBy(low) * 1000) / 10).toFixed(1)} to ${(Math.ceil(savedBy(high) * 1000) / 10).toFixed(1)} %`;
}

/** Whole percentages, or with as many digits as the lower one needs to stay above 0, at most two. */
function percentRange(from: number, to: number): string {
  const digits = [0, 1, 2].find((count) => Math.floor(from * 100 * 10 ** count) > 0) ?? 2;
  const unit = 10 ** digits;
  return `${(Math.floor(from * 100 * unit) / unit).toFixed(digits)} to ${(Math.ceil(to * 100 * unit) / unit).toFixed(digits)} %`;
}

/** What speaks against a version, as a sentence. */
export function harmText({ kind, interval }: Harm): string {
  const share = (value: number): string => (value * 100).toFixed(1);
  return kind === "slower"
    ? `Where this version offers HTTP/3, pages take ${slowedText(interval)} longer.`
    : `Where this version offers HTTP/3, ${share(interval.low)} to ${share(interval.high)} percentage points more of the pages do not report.`;
}

export function isoTime(ms: number): string {
  // oxlint-disable-next-line no-restricted-globals -- it reads no clock
  return new Date(ms).toISOString();
}

/** What a change says, as sentences. */
export function stackChangeText({ sinceMs, rttClass, before, since }: StackChange): string {
  const day = isoTime(sinceMs).slice(0, 10);
  return (
    `Since ${day} HTTP/3's effect is another one: of visitors with RTTs of ${rttClassText(rttClass)}, ` +
    `next pages over it took ${timesText(before)} of HTTP/2's time, and now they take ${timesText(since)}. ` +
    "The server may have changed, the way to it, or which pages visitors open."
  );
}

export function useChangeText({ sinceMs, before, since }: UseChange): string {
  const share = ({ value }: Estimate): string => (100 * Math.max(0, value)).toFixed(0);
  return (
    `Since ${isoTime(sinceMs).slice(0, 10)} offers are hardly followed any more: they brought ${share(before)} % of next ` +
    `pages over to HTTP/3, and now ${share(since)} %. HTTP/3 may have stopped working: run the doctor.`
  );
}

function timesText({ value, low, high }: Estimate): string {
  const times = (gain: number): string => Math.exp(-gain).toFixed(2);
  return `${times(value)} (${times(high)} to ${times(low)})`;
}
