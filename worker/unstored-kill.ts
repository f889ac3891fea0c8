import type { KillOrder } from "../durable/policy-store.ts";
import { type KillSwitch, KILL_SWITCHES } from "../policy-api/decision/activation.ts";
import { LimitedLog } from "./log.ts";

/** A kill switch that the store could not take. */
export interface UnstoredKill extends KillOrder {
  /** Tells it from others of the same moment. */
  readonly id: string;
}

/** How long to wait before the store is asked again to take it, milliseconds. */
const RETRY_MS = 5_000;

const log = new LimitedLog("The kill switch could not be stored: it is in force in memory");

/**
 * The kill switch that is in force in this isolate although the store could not take it: an operator needs it most when
 * something is broken. On one's own machine the TLS edge holds it too, and gives it back to a worker that was started
 * since. The two talk with the edge's heartbeat.
 */
export class KillHold {
  #unstored: UnstoredKill | undefined;
  #triedAtMs = Number.NEGATIVE_INFINITY;
  /** Those that the store has by now, or that were turned off: the edge may still hold one. */
  readonly #settled = new Set<string>();

  get unstored(): UnstoredKill | undefined {
    return this.#unstored;
  }

  /** Puts a kill switch in force that the store could not take. */
  hold(kind: KillSwitch, author: string, note: string | null, nowMs: number, revision?: number): void {
    this.settle();
    this.#hold({ kind, author, note, atMs: nowMs, id: crypto.randomUUID(), revision });
    this.#triedAtMs = nowMs;
  }

  /** Forgets it: the store has it now or knows a later change of the switch, or it was turned off. */
  settle(): void {
    if (this.#unstored !== undefined) this.#settled.add(this.#unstored.id);
    this.#unstored = undefined;
  }

  /** The kill switch, if it is time to ask the store again. */
  due(nowMs: number): UnstoredKill | undefined {
    if (this.#unstored === undefined || Math.abs(nowMs - this.#triedAtMs) < RETRY_MS) return undefined;
    this.#triedAtMs = nowMs;
    return this.#unstored;
  }

  /**
   * Takes what the edge says that it holds, and returns what the edge shall hold from now on. Undefined: what it holds.
   *
   * @param said Undefined if the edge holds nothing.
   */
  exchange(said: string | undefined): string | undefined {
    const theirs = said === undefined ? undefined : read(said);
    if (this.#unstored === undefined && theirs !== undefined && !this.#settled.has(theirs.id)) this.#hold(theirs);
    if (this.#unstored !== undefined) return written(this.#unstored);
    return theirs === undefined ? undefined : "off";
  }

  #hold(kill: UnstoredKill): void {
    this.#unstored = kill;
    log.write(`${kill.kind}, by ${kill.author}`);
  }
}

/** As infra/edge keeps it: at most 200 characters, without the note. */
function written({ kind, atMs, id, author, revision }: UnstoredKill): string {
  return [kind, atMs, id, author, ...(revision === undefined ? [] : [revision])].join(" ");
}

function read(text: string): UnstoredKill | undefined {
  const [first, at = "", id, author, revision = ""] = text.split(" ");
  const kind = KILL_SWITCHES.find((known) => known === first);
  if (kind === undefined || id === undefined || author === undefined || !/^\d{1,15}$/.test(at)) return undefined;
  const known = /^\d{1,15}$/.test(revision) ? Number(revision) : undefined;
  return { kind, atMs: Number(at), id, author, note: null, revision: known };
}
