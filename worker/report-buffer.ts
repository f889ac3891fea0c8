import type { ClientKeys, ClientReport } from "../durable/client-report.ts";
import type { Labels } from "../policy-api/api/counters/families.ts";
import type { PageNews } from "../policy-api/visitors/page-outcome.ts";
import type { Counters } from "./counters.ts";
import { type ClientNews, joined, NO_NEWS, type PendingNews, pendingOf } from "./news.ts";
import { Pace } from "./pace.ts";

/** An isolate calls an object at most once in this time, milliseconds, but for pages of drawn arms. */
export const GATHER_MS = 10_000;
/**
 * The same on Cloudflare, which bills each call: there also the first news waits that long for others. Until it leaves, isolates of the
 * same data centre have it from each other (nearby.ts). What an object did not take is sent again sooner: a request lives for 30 s.
 */
export const GATHER_BILLED_MS = 20_000;
const AGAIN_BILLED_MS = 8_000;
/** A gathering that is on its way for this long is lost, milliseconds: Cloudflare lets a request live for 30 s after its response. */
const CALL_LOST_MS = 30_000;
/**
 * Clients in an isolate's buffer, for all objects, and per client readings, pages' reports and pages that were asked for one: at
 * most 39 MB of the isolate's 128. A reading takes the place of an older one of its connection. Of more readings the newest stay,
 * which say enough about one path; of more reports and pages the first. If more clients come, the most crowded network gives up those
 * of its clients of whom least came.
 */
const CLIENTS_MAX = 2_000;
const READINGS_MAX = 64;
/** More pages than reports: some never report, and that must be known. */
const PAGES_MAX = { pages: 4, decided: 8 } as const;
/** Clients of one network: of more, the first stay. A network that shows new ones without end fills only this. */
const NETWORK_CLIENTS_MAX = CLIENTS_MAX / 8;

/** What waits of a client. What its pages' connections have shown is in the pages. */
interface Waiting extends PendingNews {
  readonly keys: ClientKeys;
  readonly pages: readonly PageNews[];
  /** How much came of it. */
  readonly pieces: number;
}

type Gathering = Map<string, Waiting>;

interface ObjectBuffer {
  gathering: Gathering;
  /** How many of the gathering's clients each network has. */
  networks: Map<string, number>;
  /** On their way to the object, which may not have them yet, and since when, milliseconds: several where it hangs. The oldest first. */
  readonly inFlight: Map<Gathering, number>;
  readonly pace: Pace;
}

/**
 * What this isolate has learnt and the objects do not have yet. Decisions read it too, because a client's next navigation
 * may come before the next flush.
 */
export class ReportBuffer {
  readonly counters: Counters;
  readonly #isBilled: boolean;
  readonly #objects = new Map<string, ObjectBuffer>();

  /**
   * @param counters Count what is dropped.
   * @param isBilled Whether each call has a price: then fewer leave, later.
   */
  constructor(counters: Counters, isBilled = false) {
    this.counters = counters;
    this.#isBilled = isBilled;
  }

  /**
   * Adds a reading, an answer, a page's report or a page that was asked for one.
   *
   * @returns how long the caller has to wait before it calls `flush`; undefined if another caller will do that. Not at all for a page of a
   *   drawn arm: the client's next page may come to another isolate, and must not count as its first. If the object has not answered the
   *   last call, such a page waits like other news.
   */
  add(object: string, keys: ClientKeys, news: ClientNews, nowMs: number): number | undefined {
    const buffer = this.#of(object);
    const earlier = buffer.gathering.get(keys.client);
    const waiting = waitingOf(keys, news);
    if (earlier === undefined) {
      const neighbours = buffer.networks.get(keys.network) ?? 0;
      if (neighbours >= NETWORK_CLIENTS_MAX) return this.#drop("network-full", sizeOf(waiting));
      if (this.#clients() >= CLIENTS_MAX && !this.#makeRoom(neighbours)) return this.#drop("full", sizeOf(waiting));
    }
    put(buffer, this.#joined(earlier, waiting));
    if (news.decided === undefined) return buffer.pace.promise(nowMs);
    giveUpLost(buffer, nowMs);
    return buffer.inFlight.size === 0 ? 0 : buffer.pace.promise(nowMs);
  }

  /**
   * To be asked after a flush: what the object did not take waits, and there may be no further news to take it along.
   *
   * @returns how long the caller has to wait before it calls `flush` again; undefined if nothing waits, or another caller will do that.
   */
  again(object: string, nowMs: number): number | undefined {
    const buffer = this.#objects.get(object);
    return buffer === undefined || buffer.gathering.size === 0
      ? undefined
      : buffer.pace.promise(nowMs, AGAIN_BILLED_MS);
  }

  /** Whether there is room for another page of a client: for its report, or for its being asked for one. */
  takes(what: keyof typeof PAGES_MAX, object: string, client: string): boolean {
    return (this.#objects.get(object)?.gathering.get(client)?.[what].length ?? 0) < PAGES_MAX[what];
  }

  pending(object: string, client: string): PendingNews {
    const buffer = this.#objects.get(object);
    if (buffer === undefined) return NO_NEWS;
    let news = NO_NEWS;
    for (const sent of buffer.inFlight.keys()) news = joined(news, shown(sent.get(client)));
    return joined(news, shown(buffer.gathering.get(client)));
  }

  /**
   * Hands everything that was gathered for an object to `send`. Never rejects: if the object does not take it, it waits
   * for the next flush, within the same bounds.
   */
  async flush(object: string, nowMs: number, send: (reports: readonly ClientReport[]) => Promise<void>): Promise<void> {
    const buffer = this.#of(object);
    buffer.pace.keep(nowMs);
    if (buffer.gathering.size === 0) return;
    const reports = buffer.gathering;
    buffer.gathering = new Map();
    buffer.networks = new Map();
    giveUpLost(buffer, nowMs);
    buffer.inFlight.set(reports, nowMs);
    buffer.pace.leave(nowMs);
    try {
      await send([...reports.values()].map(reportOf));
    } catch {
      // In front of what came since.
      for (const [name, waiting] of reports) put(buffer, this.#joined(waiting, buffer.gathering.get(name)));
    }
    buffer.inFlight.delete(reports);
  }

  /**
   * The most crowded network gives up half of what it has more than a newcomer's, but those of whom most came.
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
    const crowd = [...buffer.gathering]
      .filter(([, { keys }]) => keys.network === network)
      .toSorted(([, one], [, other]) => one.pieces - other.pieces);
    const leaving = crowd.slice(0, Math.ceil((clients - neighbours) / 2));
    for (const [name, waiting] of leaving) {
      this.#drop("gave-way", sizeOf(waiting));
      buffer.gathering.delete(name);
    }
    buffer.networks.set(network, clients - leaving.length);
    return true;
  }

  /** Both, within their bounds. */
  #joined(earlier: Waiting | undefined, later: Waiting | undefined): Waiting {
    if (earlier === undefined || later === undefined) return (earlier ?? later) as Waiting;
    const { samples, answers, decided } = joined(earlier, later);
    const pages = later.pages.length === 0 ? earlier.pages : [...earlier.pages, ...later.pages];
    for (const readings of [samples, answers]) this.#drop("older", readings.length - READINGS_MAX);
    this.#drop("page", pages.length - PAGES_MAX.pages);
    this.#drop("asked-page", decided.length - PAGES_MAX.decided);
    return {
      keys: earlier.keys,
      samples: samples.slice(-READINGS_MAX),
      answers: answers.slice(-READINGS_MAX),
      pages: pages.slice(0, PAGES_MAX.pages),
      decided: decided.slice(0, PAGES_MAX.decided),
      pieces: earlier.pieces + later.pieces,
    };
  }

  #drop(cause: Labels<"news_dropped">["cause"], pieces: number): undefined {
    this.counters.add("news_dropped", { cause }, pieces);
    return undefined;
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
      const pace = this.#isBilled ? new Pace(GATHER_BILLED_MS, true) : new Pace(GATHER_MS);
      buffer = { gathering: new Map(), networks: new Map(), inFlight: new Map(), pace };
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
function shown(waiting: Waiting | undefined): PendingNews {
  if (waiting === undefined) return NO_NEWS;
  const { samples, answers, pages, decided } = waiting;
  return {
    samples: pages.length === 0 ? samples : [...samples, ...pages.flatMap((page) => page.samples)],
    answers,
    decided,
  };
}

function waitingOf(keys: ClientKeys, { page, ...news }: ClientNews): Waiting {
  return { ...pendingOf(news), keys: { ...keys }, pages: page === undefined ? [] : [page], pieces: 1 };
}

function sizeOf({ samples, answers, pages, decided }: Waiting): number {
  return samples.length + answers.length + pages.length + decided.length;
}

function reportOf(waiting: Waiting): ClientReport {
  const { keys, pieces: _, pages, decided, ...news } = waiting;
  return { ...keys, ...news, ...(decided.length > 0 && { decided }), ...(pages.length > 0 && { pages }) };
}

function put(buffer: ObjectBuffer, waiting: Waiting): void {
  const { client, network } = waiting.keys;
  if (!buffer.gathering.has(client)) buffer.networks.set(network, (buffer.networks.get(network) ?? 0) + 1);
  buffer.gathering.set(client, waiting);
}
