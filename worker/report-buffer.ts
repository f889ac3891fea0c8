import type { Labels } from "../policy-api/api/counters/families.ts";
import type { ClientKeys, ClientReport } from "../durable/client-report.ts";
import { withSample } from "../policy-api/decision/connections.ts";
import { type AltSvcAnswer, withAnswer } from "../policy-api/decision/offers.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { Counts } from "./counts.ts";

/** An isolate calls an object at most once in this time, milliseconds, but for pages of drawn arms. */
export const GATHER_MS = 10_000;
/** A flush that is this late has died with its request, and another may begin, milliseconds. */
const FLUSH_LOST_MS = 10_000;
/** A gathering that is on its way for this long is lost, milliseconds: Cloudflare lets a request live for 30 s after its response. */
const CALL_LOST_MS = 30_000;
/**
 * Clients in an isolate's buffer, for all objects, and per client readings, pages' reports and pages that were asked for one: at
 * most 39 MB of the isolate's 128. A reading takes the place of an older one of its connection. Of more readings the newest stay,
 * which say enough about one path; of more reports and pages the first. If more clients come, the most crowded network gives up those
 * of its clients who have told least.
 */
const CLIENTS_MAX = 2_000;
const READINGS_MAX = 64;
const PAGES_MAX = 4;
/** More pages than reports: some never report, and that must be known. */
const DECIDED_MAX = 8;
/** Clients of one network: of more, the first stay. A network that shows new ones without end fills only this. */
const NETWORK_CLIENTS_MAX = CLIENTS_MAX / 8;

/** Why a piece of news does not reach an object. */
export type DropCause = Labels<"news_dropped">["cause"];

/** What an isolate learns of a client at a time. */
export interface ClientNews {
  readonly sample?: PathSample;
  readonly answer?: AltSvcAnswer;
  readonly page?: PageNews;
  /** A page of a drawn arm that was asked to report. */
  readonly decided?: AskedPage;
}

/** What this isolate knows about a client, and the object may not know. */
export interface PendingNews {
  readonly samples: readonly PathSample[];
  readonly answers: readonly AltSvcAnswer[];
  readonly decided: readonly AskedPage[];
}

export const NO_NEWS: PendingNews = { samples: [], answers: [], decided: [] };

interface Gathered {
  readonly keys: ClientKeys;
  samples: readonly PathSample[];
  answers: readonly AltSvcAnswer[];
  pages: readonly PageNews[];
  decided: readonly AskedPage[];
  /** How much came of it. */
  pieces: number;
}

type Gathering = Map<string, Gathered>;

interface ObjectBuffer {
  gathering: Gathering;
  /** How many of the gathering's clients each network has. */
  networks: Map<string, number>;
  /** On their way to the object, which may not have them yet, and since when, milliseconds: several where it hangs. The oldest first. */
  readonly inFlight: Map<Gathering, number>;
  lastFlushMs: number;
  /** Until when a flush that was promised may still come. */
  scheduledUntilMs: number;
}

/**
 * What this isolate has learnt and not yet told the objects. Decisions read it too, because a client's next navigation
 * may come before the next flush.
 */
export class ReportBuffer {
  /** Plain numbers, for whoever wants to show them. */
  readonly dropped = new Counts<DropCause>();
  readonly #objects = new Map<string, ObjectBuffer>();

  /**
   * Adds a reading, an answer, a page's report or a page that was asked for one.
   *
   * @returns how long the caller has to wait before it calls `flush`; undefined if another caller will do that. Not at all for a page of a
   *   drawn arm: the client's next page may come to another isolate, and must not count as its first. If the object has not answered the
   *   last call, such a page waits like other news.
   */
  add(object: string, keys: ClientKeys, news: ClientNews, nowMs: number): number | undefined {
    const buffer = this.#of(object);
    let client = buffer.gathering.get(keys.client);
    if (client === undefined) {
      const neighbours = buffer.networks.get(keys.network) ?? 0;
      if (neighbours >= NETWORK_CLIENTS_MAX) return this.#refuse("network-full", news);
      if (this.#clients() >= CLIENTS_MAX && !this.#makeRoom(neighbours)) return this.#refuse("full", news);
      client = { keys: { ...keys }, samples: [], answers: [], pages: [], decided: [], pieces: 0 };
      put(buffer, keys.client, client);
    }
    client.pieces++;
    if (news.sample !== undefined) client.samples = this.#newest(withSample(client.samples, news.sample));
    if (news.answer !== undefined) client.answers = this.#newest(withAnswer(client.answers, news.answer));
    if (news.page !== undefined) client.pages = this.#first([...client.pages, news.page], PAGES_MAX, "page");
    if (news.decided !== undefined)
      client.decided = this.#first([...client.decided, news.decided], DECIDED_MAX, "asked-page");
    if (news.decided === undefined) return this.#promise(buffer, nowMs);
    giveUpLost(buffer, nowMs);
    return buffer.inFlight.size === 0 ? 0 : this.#promise(buffer, nowMs);
  }

  /**
   * To be asked after a flush: what the object did not take waits, and there may be no further news to take it along.
   *
   * @returns how long the caller has to wait before it calls `flush` again; undefined if nothing waits, or another caller will do that.
   */
  again(object: string, nowMs: number): number | undefined {
    const buffer = this.#objects.get(object);
    return buffer === undefined || buffer.gathering.size === 0 ? undefined : this.#promise(buffer, nowMs);
  }

  /** @returns after how long a flush is due, which the caller then promises; undefined if one is promised. */
  #promise(buffer: ObjectBuffer, nowMs: number): number | undefined {
    // A time that is farther ahead is from before the clock was set back.
    const isAhead = (ms: number, most: number): boolean => nowMs < ms && ms <= nowMs + most;
    if (isAhead(buffer.scheduledUntilMs, GATHER_MS + FLUSH_LOST_MS)) return undefined;
    const dueMs = buffer.lastFlushMs + GATHER_MS;
    const waitMs = isAhead(dueMs, GATHER_MS) ? dueMs - nowMs : 0;
    buffer.scheduledUntilMs = nowMs + waitMs + FLUSH_LOST_MS;
    return waitMs;
  }

  /** Whether there is room for a page's report of a client. */
  takesPage(object: string, client: string): boolean {
    return (this.#objects.get(object)?.gathering.get(client)?.pages.length ?? 0) < PAGES_MAX;
  }

  /** Whether there is room for a page of a client that is asked to report. */
  takesDecided(object: string, client: string): boolean {
    return (this.#objects.get(object)?.gathering.get(client)?.decided.length ?? 0) < DECIDED_MAX;
  }

  pending(object: string, client: string): PendingNews {
    const buffer = this.#objects.get(object);
    if (buffer === undefined) return NO_NEWS;
    let news = NO_NEWS;
    for (const sent of buffer.inFlight.keys()) news = joined(news, newsOf(sent.get(client)));
    return joined(news, newsOf(buffer.gathering.get(client)));
  }

  /**
   * Hands everything that was gathered for an object to `send`. Never rejects: if the object does not take it, it waits
   * for the next flush, within the same bounds.
   */
  async flush(object: string, nowMs: number, send: (reports: readonly ClientReport[]) => Promise<void>): Promise<void> {
    const buffer = this.#of(object);
    // Not if it was promised for later: whoever adds more until then relies on that.
    if (buffer.scheduledUntilMs <= nowMs + FLUSH_LOST_MS) buffer.scheduledUntilMs = 0;
    if (buffer.gathering.size === 0) return;
    const reports = buffer.gathering;
    buffer.gathering = new Map();
    buffer.networks = new Map();
    giveUpLost(buffer, nowMs);
    buffer.inFlight.set(reports, nowMs);
    buffer.lastFlushMs = nowMs;
    try {
      await send([...reports.values()].map(reportOf));
    } catch {
      this.#putBack(buffer, reports);
    }
    buffer.inFlight.delete(reports);
  }

  /**
   * The most crowded network gives up half of what it has more than a newcomer's, but those who have told most.
   *
   * @param neighbours How many clients the newcomer's network has.
   * @returns whether there is room now.
   */
  #makeRoom(neighbours: number): boolean {
    let crowded: { buffer: ObjectBuffer; network: string; clients: number } | undefined;
    for (const buffer of this.#objects.values())
      for (const [network, clients] of buffer.networks)
        if (clients > (crowded?.clients ?? neighbours + 1)) crowded = { buffer, network, clients };
    if (crowded === undefined) return false;
    const { buffer, network, clients } = crowded;
    const told = [...buffer.gathering]
      .filter(([, { keys }]) => keys.network === network)
      .toSorted(([, one], [, other]) => one.pieces - other.pieces);
    const leaving = told.slice(0, Math.ceil((clients - neighbours) / 2));
    for (const [name, { samples, answers, pages, decided }] of leaving) {
      this.dropped.add("gave-way", samples.length + answers.length + pages.length + decided.length);
      buffer.gathering.delete(name);
    }
    buffer.networks.set(network, clients - leaving.length);
    return true;
  }

  #refuse(cause: DropCause, { sample, answer, page, decided }: ClientNews): undefined {
    for (const piece of [sample, answer, page, decided]) if (piece !== undefined) this.dropped.add(cause);
    return undefined;
  }

  #newest<T>(readings: readonly T[]): readonly T[] {
    if (readings.length <= READINGS_MAX) return readings;
    this.dropped.add("older", readings.length - READINGS_MAX);
    return readings.slice(-READINGS_MAX);
  }

  #first<T>(pages: readonly T[], most: number, cause: DropCause): readonly T[] {
    if (pages.length <= most) return pages;
    this.dropped.add(cause, pages.length - most);
    return pages.slice(0, most);
  }

  /** Puts reports back, in front of those that were gathered since. */
  #putBack(buffer: ObjectBuffer, reports: Gathering): void {
    for (const [name, { keys, samples, answers, pages, decided, pieces }] of reports) {
      const since = buffer.gathering.get(name);
      put(buffer, name, {
        keys,
        samples: this.#newest((since?.samples ?? []).reduce(withSample, samples)),
        answers: this.#newest((since?.answers ?? []).reduce(withAnswer, answers)),
        pages: this.#first([...pages, ...(since?.pages ?? [])], PAGES_MAX, "page"),
        decided: this.#first([...decided, ...(since?.decided ?? [])], DECIDED_MAX, "asked-page"),
        pieces: pieces + (since?.pieces ?? 0),
      });
    }
  }

  /** Clients in the buffer or on their way, for all objects. */
  #clients(): number {
    let count = 0;
    for (const { gathering, inFlight } of this.#objects.values()) {
      count += gathering.size;
      for (const sent of inFlight.keys()) count += sent.size;
    }
    return count;
  }

  #of(object: string): ObjectBuffer {
    let buffer = this.#objects.get(object);
    if (buffer === undefined) {
      buffer = {
        gathering: new Map(),
        networks: new Map(),
        inFlight: new Map(),
        lastFlushMs: Number.NEGATIVE_INFINITY,
        scheduledUntilMs: 0,
      };
      this.#objects.set(object, buffer);
    }
    return buffer;
  }
}

/** A request that has died leaves behind what it was sending. */
function giveUpLost({ inFlight }: ObjectBuffer, nowMs: number): void {
  for (const [sent, sinceMs] of inFlight) if (Math.abs(nowMs - sinceMs) >= CALL_LOST_MS) inFlight.delete(sent);
}

/** With what its connections have shown, whoever says so. */
function newsOf(gathered: Gathered | undefined): PendingNews {
  if (gathered === undefined) return NO_NEWS;
  const { samples, answers, pages, decided } = gathered;
  if (pages.length === 0) return { samples, answers, decided };
  return { samples: [...samples, ...pages.flatMap((page) => page.samples)], answers, decided };
}

function joined(earlier: PendingNews, later: PendingNews): PendingNews {
  if (earlier === NO_NEWS) return later;
  if (later === NO_NEWS) return earlier;
  return {
    samples: [...earlier.samples, ...later.samples],
    answers: [...earlier.answers, ...later.answers],
    decided: [...earlier.decided, ...later.decided],
  };
}

function reportOf({ keys, samples, answers, pages, decided }: Gathered): ClientReport {
  return {
    ...keys,
    samples,
    answers,
    ...(decided.length === 0 ? {} : { decided }),
    ...(pages.length === 0 ? {} : { pages }),
  };
}

function put(buffer: ObjectBuffer, name: string, news: Gathered): void {
  const { network } = news.keys;
  if (!buffer.gathering.has(name)) buffer.networks.set(network, (buffer.networks.get(network) ?? 0) + 1);
  buffer.gathering.set(name, news);
}
