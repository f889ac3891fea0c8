import type { Remembered } from "../policy-api/decision/history.ts";
import { type ClientNews, joined, NO_NEWS, type PendingNews, pendingOf } from "./news.ts";

/** How long an isolate uses a look-up's answer again by itself, milliseconds: about as long as one reads a page. */
export const RECENT_MS = 60_000;
/** How long it may be used while the isolates of a data centre tell each other what came since, milliseconds: about a visit. */
export const SHARED_MS = 180_000;
/** Clients. A look-up's answer takes at most 5 KB, and what came since a few more: 8 MB of the isolate's 128. */
export const RECENT_MAX = 1_000;
/** Pieces of news of a client. With more, the object is asked again. */
const NEWS_MAX = 32;

/** A client whose look-up left this isolate. */
interface Recent {
  /** When it did. */
  readonly askedAtMs: number;
  /** When this isolate asked, or last took over what others know. */
  readonly heardAtMs: number;
  /** Whether other isolates may know less than this. */
  isNews: boolean;
  /** Undefined until an answer came. */
  remembered: Remembered | undefined;
  /** What the isolate learnt, and what was on its way to the object, since the look-up left: the answer may lack it. */
  news: PendingNews;
}

/** What a look-up brought, and all that this isolate has learnt of the client since. */
export interface RecentlyFound {
  readonly remembered: Remembered;
  readonly news: PendingNews;
}

/** The same, for another isolate. Plain JSON. */
export interface Shared extends RecentlyFound {
  /** When the look-up left, milliseconds since the epoch. */
  readonly askedAtMs: number;
}

/**
 * Clients that were looked up a moment ago: the next page of a visit needs no look-up, if it comes to the same isolate, or to one that
 * this one's news reaches. What other isolates learn of a client meanwhile is not known here until its time is over.
 */
export class RecentClients {
  readonly #recent = new Map<string, Recent>();
  /** When clients were forgotten last. Who asked before then knows too much. */
  #forgottenAtMs = 0;

  /** What a look-up of this client would bring, if one did not long ago. */
  find(client: string, nowMs: number): RecentlyFound | undefined {
    const recent = this.#recent.get(client);
    if (recent === undefined || isOld(recent, nowMs) || recent.remembered === undefined) return undefined;
    return { remembered: recent.remembered, news: recent.news };
  }

  /**
   * Notes that a look-up leaves. From now on the client's news is kept for its answer.
   *
   * @param pending News that the object may not have yet.
   * @returns a function that takes the answer. Without an answer there is nothing to call.
   */
  ask(client: string, pending: PendingNews, nowMs: number): (remembered: Remembered) => void {
    const asked: Recent = { askedAtMs: nowMs, heardAtMs: nowMs, isNews: true, remembered: undefined, news: pending };
    this.#keep(client, asked, nowMs);
    return (remembered) => {
      asked.remembered = remembered;
    };
  }

  /** What another isolate may take over, if there is something that was not shared before. */
  share(client: string): Shared | undefined {
    const recent = this.#recent.get(client);
    if (recent?.remembered === undefined || !recent.isNews) return undefined;
    recent.isNews = false;
    const { askedAtMs, remembered, news } = recent;
    return { askedAtMs, remembered, news };
  }

  /**
   * Takes over what another isolate shared, as if the look-up had left from here, unless it is too old. What this isolate has learnt since
   * its own look-up is added.
   *
   * @param pending News of this isolate that the other one may not have.
   */
  adopt(client: string, shared: Shared, pending: PendingNews, nowMs: number): RecentlyFound | undefined {
    const { askedAtMs, remembered, news } = shared;
    if (askedAtMs <= this.#forgottenAtMs) return undefined;
    const own = this.#recent.get(client);
    const isNews = piecesOf(pending) > 0 || own?.isNews === true;
    const all = joined(joined(news, own?.news ?? NO_NEWS), pending);
    this.#keep(client, { askedAtMs, heardAtMs: nowMs, isNews, remembered, news: all }, nowMs);
    return this.find(client, nowMs);
  }

  #keep(client: string, recent: Recent, nowMs: number): void {
    // Most recently recent last.
    this.#recent.delete(client);
    if (piecesOf(recent.news) <= NEWS_MAX) this.#recent.set(client, recent);
    for (const [oldest, { askedAtMs }] of this.#recent) {
      if (this.#recent.size <= RECENT_MAX && nowMs - askedAtMs < SHARED_MS) break;
      this.#recent.delete(oldest);
    }
  }

  /** Adds news of a client that was looked up, as the object will hear of it. */
  add(client: string, news: ClientNews): void {
    const recent = this.#recent.get(client);
    if (recent === undefined) return;
    recent.news = joined(recent.news, pendingOf(news));
    recent.isNews = true;
    if (piecesOf(recent.news) > NEWS_MAX) this.#recent.delete(client);
  }

  /** It was forgotten. */
  forget(client: string, nowMs: number): void {
    this.#forgottenAtMs = nowMs;
    this.#recent.delete(client);
  }
}

/** Also after the clock was set back. */
function isOld({ askedAtMs, heardAtMs }: Recent, nowMs: number): boolean {
  return nowMs - heardAtMs >= RECENT_MS || nowMs - askedAtMs >= SHARED_MS || nowMs < askedAtMs;
}

function piecesOf({ samples, answers, decided }: PendingNews): number {
  return samples.length + answers.length + decided.length;
}
