import { left } from "./fading.ts";
import { NODES, zeros } from "./loss-nodes.ts";
import { figure, list, object, optional, type Read } from "./parse.ts";

export const readMix = object({ clients: list(figure, NODES, NODES), asOfMs: figure });
/**
 * How many clients are on each loss node, as of a moment: a client counts for one at most, spread over the nodes by what
 * its packets say. Older ones count less. Plain JSON.
 */
export type Mix = Read<typeof readMix>;

export const readLevelState = object({
  mix: readMix,
  /** Of a network: what its autonomous system and the site have of it, and the system's number once it is known. */
  given: optional(readMix),
  asn: optional(figure),
  /** Since when it has what it is given, milliseconds since the epoch. */
  bornAtMs: figure,
});
/** What is kept of a level above the clients. Plain JSON. */
export type LevelState = Read<typeof readLevelState>;

export const NO_MIX: Mix = { clients: zeros(), asOfMs: 0 };
export const EMPTY_LEVEL: LevelState = { mix: NO_MIX, bornAtMs: Number.POSITIVE_INFINITY };

/**
 * Above the clients: a network (a /24 or /48), its autonomous system as far as one object has met it, and all that the
 * object has met. Each is the prior of the one before it.
 */
export const UPPER_LEVELS = ["network", "asn", "site"] as const;
export type UpperLevel = (typeof UPPER_LEVELS)[number];

/**
 * How many clients a network counts for above it: one with a thousand addresses is as much to its autonomous system as
 * one with four clients.
 */
export const NETWORK_GIVES_MAX = 4;

/** What something gives to the level above it: what it gave before, and what it gives from now on. */
export interface MixChange {
  readonly before: Mix;
  readonly after: Mix;
}

/** A mix as of a later moment: what is left of it. */
export function mixAt({ clients, asOfMs }: Mix, nowMs: number): readonly number[] {
  const share = left(nowMs - asOfMs);
  return clients.map((n) => n * share);
}

/** A client whose mix has changed by less than this, of a whole client, gives its network nothing new. */
const CLIENT_STEP = 0.2;
/**
 * The same of a network after it gave for the first time, for its autonomous system and the site: of those 50 clients count for as much as
 * what is thought without them, and a network gives them as much as four.
 */
const NETWORK_STEP = 0.5;

/** Whether what a client gives now differs so much from what it gave before that its network should hear of it. Pure. */
export function isNews(given: MixChange): boolean {
  return differs(given, CLIENT_STEP);
}

function differs({ before, after }: MixChange, step: number): boolean {
  const old = mixAt(before, after.asOfMs);
  return after.clients.reduce((sum, n, node) => sum + Math.abs(n - (old[node] ?? 0)), 0) >= step;
}

/**
 * What is given to a level that began at this time. It has nothing of what was given to the one before it, which was forgotten, say:
 * then all is given anew. Pure.
 */
export function givenSince(given: MixChange, bornAtMs: number): MixChange {
  return given.before.asOfMs < bornAtMs ? { ...given, before: NO_MIX } : given;
}

/** Adds to a level above the networks. Pure. */
export function addToUpper({ mix, bornAtMs }: LevelState, given: MixChange): LevelState {
  return { mix: addGiven(mix, givenSince(given, bornAtMs)), bornAtMs: bornOf(bornAtMs, given) };
}

/** A clock that was set back must not make everything that is given later look older than its level. */
function bornOf(bornAtMs: number, { after }: MixChange): number {
  return Math.min(bornAtMs, after.asOfMs);
}

/** A mix in which what was given before is replaced by what is given now. No place falls below 0. Pure. */
export function addGiven(mix: Mix, { before, after }: MixChange): Mix {
  const asOfMs = Math.max(mix.asOfMs, after.asOfMs);
  const [all, old, now] = [mixAt(mix, asOfMs), mixAt(before, asOfMs), mixAt(after, asOfMs)];
  return { clients: all.map((n, node) => Math.max(0, n - (old[node] ?? 0) + (now[node] ?? 0))), asOfMs };
}

/** Adds to a network what one of its clients gives, and says what the network gives on: if that is nothing new, the same as before. Pure. */
export function addToNetwork(
  state: LevelState,
  given: MixChange,
  asn: number | undefined,
): { state: LevelState; given: MixChange } {
  const mix = addGiven(state.mix, given);
  const before = state.given ?? NO_MIX;
  const onward = { before, after: atMost(mix, NETWORK_GIVES_MAX) };
  const number = asn ?? state.asn;
  // A system whose number was not known before got nothing.
  const gives = state.given === undefined || number !== state.asn || differs(onward, NETWORK_STEP);
  return {
    state: { mix, given: gives ? onward.after : state.given, asn: number, bornAtMs: bornOf(state.bornAtMs, given) },
    given: gives ? onward : { before, after: before },
  };
}

function atMost(mix: Mix, most: number): Mix {
  const total = mix.clients.reduce((sum, n) => sum + n, 0);
  return total <= most ? mix : { ...mix, clients: mix.clients.map((n) => (n * most) / total) };
}
