import { DurableObject } from "cloudflare:workers";
import type { Extent } from "../policy-api/api/counters/extent.ts";
import { forgottenOf } from "../policy-api/decision/connections.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import { applySamples, EMPTY_CLIENT } from "../policy-api/decision/levels.ts";
import {
  addToNetwork,
  addToUpper,
  givenSince,
  isNews,
  type MixChange,
  NO_MIX,
  UPPER_LEVELS,
  type UpperLevel,
} from "../policy-api/decision/mix.ts";
import { applyAnswer } from "../policy-api/decision/offers.ts";
import { addDecision, addOutcome } from "../policy-api/visitors/assigned-client.ts";
import { countPage, type PageFate } from "../policy-api/visitors/counted-pages.ts";
import { comparedWith, expectedTimes } from "../policy-api/visitors/expected-time.ts";
import type { OutcomeRow } from "../policy-api/visitors/gathered.ts";
import type { AskedPage, PageNews } from "../policy-api/visitors/page-outcome.ts";
import { changesOf, isContinued, type OutcomeKey } from "../policy-api/visitors/sums-change.ts";
import type { ClientKeys, ClientReport, Recorded } from "./client-report.ts";
import { Forgotten } from "./forgotten.ts";
import { forgetOutcomes, goneBy, type HeldRow, inSumsOf, waits, withoutOutcomes } from "./held-row.ts";
import { migrate } from "./migrations.ts";
import { OutcomeRows, OUTCOMES_RETENTION_MS } from "./outcome-rows.ts";
import { CLIENT_PREFIX, EMPTY_ROW, PATH_MIGRATIONS, PathRows, RETENTION_MS } from "./path-rows.ts";
import { tells, toldBy } from "./told.ts";

/** A row is written if its last write is at least this old, milliseconds. Until then, changes wait in memory. */
export const WRITE_INTERVAL_MS = 10_000;
/**
 * The same for a client's own row, which seldom changes twice within ten seconds. What waits needs an alarm, and an alarm is billed as a
 * row twice: when it is set, and when it sets the next one.
 */
export const CLIENT_WRITE_INTERVAL_MS = 1_000;
/** Expiry reads the whole table, so it runs at most once in an hour. A row may outlive its retention by as much. */
const EXPIRY_INTERVAL_MS = 3_600_000;
/** An alarm that is this late will not ring: on one's own machine, workerd's list of alarms may be lost. */
const ALARM_LOST_MS = 60_000;
/**
 * Rows in memory. Each takes about 4 KB of an object's 128 MB. A client of a drawn arm takes about 1 KB more, and at most 9 KB: 24 keys
 * take 4.5 KB, twice if all of them wait to be written. So all rows take 65 MB at most.
 */
export const HELD_MAX = 5_000;

interface Tables {
  readonly rows: PathRows;
  readonly outcomes: OutcomeRows;
}

/**
 * What is known of the clients of many networks. There is one object per region and hash of the network, so that each
 * is warm, near, and bounded in load.
 *
 * Reports are many and writes are expensive. So rows live in memory, and each is written at most every ten seconds, a
 * client's own every second: by the report that finds it due, or else by an alarm. A client's row is written only if what changed can change an answer
 * (told.ts).
 *
 * What clients of drawn arms did is added up in sums of outcomes. The sums of all clients that wait are written together, every ten
 * seconds, in one transaction with what those clients' rows say of it. So a crash loses both or neither, and the sums are always
 * those of the rows as they were written. A row that is due sooner is written without that part, as the part was last written.
 */
export class PathStore extends DurableObject {
  #tables: Tables | undefined;
  readonly #held = new Map<string, HeldRow>();
  readonly #forgotten = new Forgotten();
  /** Keys of held rows that have changed since they were written. */
  readonly #dirty = new Set<string>();
  /** When the alarm will ring, as far as this instance knows. */
  #alarmAtMs: number | undefined;
  /** When to look for old rows next. 0 in an instance that does not know. */
  #expireAtMs = 0;
  #alarmsSet = 0;
  /** When sums were last written. 0 in an instance that has not written any. */
  #sumsAtMs = 0;

  /** Writes nothing. */
  lookUp(keys: ClientKeys): Remembered {
    const found: { -readonly [F in keyof Remembered]: Remembered[F] } = {};
    const client = this.#load(clientKey(keys.client))?.row;
    if (client !== undefined) {
      found.client = client.client;
      found.offers = client.offers;
      const { assigned } = client;
      if (assigned !== undefined) found.decided = { period: assigned.period, atMs: assigned.atMs };
    }
    for (const level of UPPER_LEVELS) {
      const key = levelKey(level, keys);
      const row = key === undefined ? undefined : this.#load(key)?.row;
      if (row !== undefined) found[level] = row.level;
    }
    this.#shrink(true);
    return found;
  }

  /**
   * Adds what isolates gathered. It is on disk when this resolves, except for rows that are not yet due again, for what changes no
   * answer, and for outcomes if sums were written less than ten seconds ago.
   */
  async record(reports: readonly ClientReport[]): Promise<Recorded> {
    const nowMs = Date.now();
    let replayed = 0;
    let crowded = 0;
    for (const report of reports) {
      const refused = this.#add(report, nowMs);
      replayed += refused?.replayed ?? 0;
      crowded += refused?.crowded ?? 0;
    }
    this.#writeDue(nowMs);
    this.#shrink();
    await this.#schedule(nowMs);
    return { replayed, crowded };
  }

  /**
   * Forgets a client or a network: in memory, in the table, and news that is still on its way here. The row's bytes may
   * stay on the disk until later rows use their space. What a client added to sums of outcomes stays in them: they have no hash, and
   * nothing says any more which part was its.
   *
   * @returns whether there was anything to forget.
   */
  forget(what: { readonly client: string } | { readonly network: string }): boolean {
    const key = "client" in what ? clientKey(what.client) : networkKey(what.network);
    const nowMs = Date.now();
    const row = this.#load(key)?.row;
    // What was forgotten already may have connections that are still open.
    const open = row === undefined ? this.#forgotten.openOf(key) : forgottenOf(row.client.connections);
    this.#forgotten.add(key, open, nowMs);
    this.#held.delete(key);
    this.#dirty.delete(key);
    this.#tablesIfAny()?.rows.delete(key);
    return row !== undefined;
  }

  /** What clients of drawn arms add up to under a version, as it was last written. */
  outcomes(version: number): OutcomeRow[] {
    return this.#tablesIfAny()?.outcomes.of(version) ?? [];
  }

  /** The versions that have outcomes, and when those of each last changed. */
  outcomeVersions(): { version: number; atMs: number }[] {
    return this.#tablesIfAny()?.outcomes.versions() ?? [];
  }

  /** How much is kept here. It reads the whole table, which is bounded: for people who ask, and for nothing that asks by itself. */
  extent(): Extent {
    const { rows, oldestAtMs } = this.#tablesIfAny()?.rows.extent() ?? { rows: 0, oldestAtMs: undefined };
    return { rows, oldestAtMs, bytes: rows === 0 ? 0 : this.ctx.storage.sql.databaseSize };
  }

  /** What this instance wrote so far, as Cloudflare bills it: rows with their index entries, and alarms. */
  writes(): { rows: number; alarms: number } {
    const { rows, outcomes } = this.#tables ?? {};
    return { rows: (rows?.written ?? 0) + (outcomes?.written ?? 0), alarms: this.#alarmsSet };
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#alarmAtMs = undefined;
    this.#write([...this.#dirty], nowMs);
    if (this.#expireAtMs <= nowMs) {
      const expireAtMs = this.#expire(nowMs);
      for (const [key, held] of this.#held) if (held.row.lastAtMs <= nowMs - RETENTION_MS) this.#held.delete(key);
      if (expireAtMs === undefined) {
        // Nothing is left: delete the schema too.
        await this.ctx.storage.deleteAlarm();
        await this.ctx.storage.deleteAll();
        this.#tables = undefined;
        this.#forgotten.clear();
        this.#held.clear();
        return;
      }
      this.#expireAtMs = Math.max(expireAtMs, nowMs + EXPIRY_INTERVAL_MS);
    }
    await this.#wakeAt(this.#expireAtMs);
  }

  /** @returns when there is something to do again; undefined if nothing is left. */
  #expire(nowMs: number): number | undefined {
    const tables = this.#tablesIfAny();
    let dueAtMs: number | undefined;
    try {
      dueAtMs = tables && this.ctx.storage.transactionSync(() => tables.rows.expire(nowMs));
    } catch (error) {
      // What they know of the tables may be wrong now.
      this.#tables = undefined;
      throw error;
    }
    const changedAtMs = tables?.outcomes.expire(nowMs);
    const forgottenAtMs = this.#forgotten.expire(nowMs);
    if (dueAtMs === undefined && changedAtMs === undefined && forgottenAtMs === undefined) return undefined;
    return Math.min(dueAtMs ?? Infinity, (changedAtMs ?? Infinity) + OUTCOMES_RETENTION_MS, forgottenAtMs ?? Infinity);
  }

  #add(whole: ClientReport, nowMs: number): Recorded | undefined {
    const key = clientKey(whole.client);
    // First what was read: the tables say what was forgotten.
    this.#tablesIfAny();
    const report = this.#since(this.#forgotten.sinceMs(key, nowMs), whole);
    if (report === undefined) return undefined;
    const held = this.#loadOrBegin(key);
    const { network } = report;
    held.row = { ...held.row, lastAtMs: nowMs, network };
    // What isolates of the version before send has no nonce. Such a page counts from its report on.
    for (const page of (report.decided ?? []).filter(({ nonce }) => typeof nonce === "string"))
      this.#countPage(held, report, page, false, nowMs);
    const recorded = { replayed: 0, crowded: 0 };
    const fresh: PageNews[] = [];
    for (const page of report.pages ?? []) {
      const fate = this.#countPage(held, report, { ...page.outcome, nonce: page.nonce }, true, nowMs);
      if (fate === "replayed" || fate === "crowded") {
        recorded[fate]++;
        continue;
      }
      fresh.push(page);
      this.#addOutcome(held, page, report.asn);
    }
    const samples = [...report.samples, ...fresh.flatMap((page) => page.samples)];
    this.#forgotten.close(key, samples);
    // What is older than the time when the network was forgotten is still the client's.
    const sinceMs = this.#forgotten.sinceMs(networkKey(report.network), nowMs) ?? Number.NEGATIVE_INFINITY;
    const older = samples.filter(({ atMs }) => atMs <= sinceMs);
    const newer = samples.filter(({ atMs }) => atMs > sinceMs);
    const { state, given: more } = applySamples(applySamples(held.row.client, older, nowMs).state, newer, nowMs);
    const given = this.#givenToNetwork(more, network, nowMs);
    const offers = report.answers.reduce(applyAnswer, held.row.offers);
    const gives = isNews(given);
    const client = gives ? state : { ...state, given: given.before };
    held.row = { ...held.row, client, offers };
    // What its network has of a client, and what the client's row says of that, must not part. Sums and counted pages go into a row
    // with what changed them.
    if (gives || waits(held) || fresh.length > 0 || tells(held.told, toldBy(held.row))) this.#dirty.add(key);
    if (gives) this.#giveOn(report, given, nowMs);
    return recorded;
  }

  /** Counts that a page was decided about, by its decision or its report: by the one that comes first. */
  #countPage(held: HeldRow, { client, asn }: ClientKeys, page: AskedPage, isReport: boolean, nowMs: number): PageFate {
    const { assigned: before } = held.row;
    const { pages: countedPages, fate } = countPage(held.row.countedPages, page, isReport, nowMs);
    const assigned = fate === "first" ? addDecision(before, page, asn) : before;
    // What the client did before is of another period, version or arm, and the row has place for one.
    if (before !== undefined && assigned !== undefined && waits(held) && !isContinued(before, assigned))
      this.#write([clientKey(client)], nowMs);
    held.row = { ...held.row, assigned, countedPages };
    return fate;
  }

  #addOutcome(held: HeldRow, { outcome }: PageNews, asn: number | undefined): void {
    const { assigned } = held.row;
    if (assigned === undefined || outcome.arm === "policy") return;
    // Not by the page's own RTT: that is measured over the protocol that the arm led to.
    const { rttMs } = assigned;
    const before = this.#tablesIfAny()?.outcomes.before(comparedWith({ rttMs }));
    const expected = expectedTimes({ rttMs, contentBytes: outcome.contentBytes }, before);
    const added = addOutcome(assigned, outcome, expected, asn);
    held.row = { ...held.row, assigned: added.client };
    if (added.times !== undefined) held.times.push(added.times);
  }

  /** What a client gives to the network that is there now. A network that is not there has nothing of it. */
  #givenToNetwork(given: MixChange, network: string, nowMs: number): MixChange {
    if (given.before === NO_MIX) return given;
    const held = this.#load(networkKey(network));
    return givenSince(given, held === undefined ? nowMs : held.row.level.bornAtMs);
  }

  /** A client gives to its network, and that a bounded share to its autonomous system and to the site. */
  #giveOn(report: ClientReport, given: MixChange, nowMs: number): void {
    const network = this.#loadOrBegin(networkKey(report.network));
    const { asn: earlierAsn } = network.row.level;
    const { state, given: onward } = addToNetwork(network.row.level, given, report.asn);
    network.row = { ...EMPTY_ROW, level: state, lastAtMs: nowMs };
    this.#dirty.add(networkKey(report.network));
    if (onward.after === onward.before) return;
    for (const level of ["asn", "site"] as const) {
      const key = levelKey(level, { ...report, asn: state.asn });
      if (key === undefined) continue;
      const above = this.#loadOrBegin(key);
      // Before its number was known, the system got nothing.
      const isNew = level === "asn" && earlierAsn !== state.asn;
      const part = isNew ? { ...onward, before: NO_MIX } : onward;
      above.row = { ...EMPTY_ROW, level: addToUpper(above.row.level, part), lastAtMs: nowMs };
      this.#dirty.add(key);
    }
  }

  /** The part of a report that is newer than the time when its client was forgotten. Undefined if nothing is. */
  #since(forgottenAtMs: number | undefined, report: ClientReport): ClientReport | undefined {
    if (forgottenAtMs === undefined) return report;
    const samples = report.samples.filter(({ atMs }) => atMs > forgottenAtMs);
    const answers = report.answers.filter(({ atMs }) => atMs > forgottenAtMs);
    const decided = (report.decided ?? []).filter(({ atMs }) => atMs > forgottenAtMs);
    const pages = (report.pages ?? []).filter(({ outcome }) => outcome.atMs > forgottenAtMs);
    const news = { samples, answers, decided, pages };
    return Object.values(news).every((some) => some.length === 0) ? undefined : { ...report, ...news };
  }

  #writeDue(nowMs: number): void {
    const isSumsDue = this.#sumsAtMs + WRITE_INTERVAL_MS <= nowMs;
    const isDue = (key: string): boolean => {
      const held = this.#held.get(key);
      return held === undefined || rowDueAtMs(key, held) <= nowMs || (isSumsDue && waits(held));
    };
    this.#write([...this.#dirty].filter(isDue), nowMs, isSumsDue);
  }

  /**
   * Writes rows, and the sums that they change, all of it or nothing.
   *
   * @param withSums False: what changes sums goes on waiting
   */
  #write(keys: readonly string[], nowMs: number, withSums = true): void {
    const writing: { key: string; held: HeldRow; isWhole: boolean }[] = [];
    for (const key of keys) {
      const held = this.#held.get(key);
      if (held === undefined) this.#dirty.delete(key);
      else writing.push({ key, held, isWhole: withSums || !waits(held) });
    }
    if (writing.length === 0) return;
    const changes = changesOf(
      writing.flatMap(({ held: { row, inSums, times }, isWhole }) =>
        isWhole && row.assigned !== undefined && row.assigned !== inSums.assigned
          ? [{ before: inSums.assigned, after: row.assigned, times }]
          : [],
      ),
    );
    const { rows, outcomes } = this.#tablesOrCreate();
    let isGone: ((key: OutcomeKey) => boolean) | undefined;
    let isLost = false;
    try {
      this.ctx.storage.transactionSync(() => {
        const { refused, lost } = outcomes.apply(changes, nowMs);
        rows.forgetOutcomes(lost);
        isGone = goneBy(refused, lost);
        isLost = lost.versions.length + lost.keys.length > 0;
        for (const { key, held, isWhole } of writing) {
          const row = withoutOutcomes(held.row, isGone);
          rows.write(key, isWhole ? row : { ...row, ...withoutOutcomes(held.inSums, isGone) });
        }
      });
    } catch (error) {
      // What they know of the tables may be wrong now.
      this.#tables = undefined;
      throw error;
    }
    // Nobody else is in sums that were refused.
    const gone = isLost ? [...this.#held.values()] : writing.map(({ held }) => held);
    if (isGone !== undefined) for (const held of gone) forgetOutcomes(held, isGone);
    // Rows that gave way to others may be held here still: they are not in the table any more.
    if (rows.gaveWay()) for (const held of this.#held.values()) held.told = undefined;
    for (const { key, held, isWhole } of writing) {
      held.writtenAtMs = nowMs;
      held.told = toldBy(held.row);
      if (!isWhole) continue;
      held.inSums = inSumsOf(held.row);
      held.times = [];
      this.#dirty.delete(key);
    }
    if (changes.length > 0) this.#sumsAtMs = nowMs;
  }

  /**
   * There is one alarm for all: for the first row that is due to be written, for sums that are, and for what will expire.
   */
  async #schedule(nowMs: number): Promise<void> {
    let atMs = Math.max(this.#expireAtMs, nowMs + EXPIRY_INTERVAL_MS);
    for (const key of this.#dirty) {
      const held = this.#held.get(key);
      if (held === undefined) continue;
      atMs = Math.min(atMs, rowDueAtMs(key, held));
      if (waits(held)) atMs = Math.min(atMs, Math.max(nowMs, this.#sumsAtMs + WRITE_INTERVAL_MS));
    }
    await this.#wakeAt(atMs);
  }

  async #wakeAt(atMs: number): Promise<void> {
    this.#alarmAtMs ??= (await this.ctx.storage.getAlarm()) ?? undefined;
    const setAtMs = this.#alarmAtMs;
    if (setAtMs !== undefined && setAtMs <= atMs && setAtMs > Date.now() - ALARM_LOST_MS) return;
    this.#alarmAtMs = atMs;
    this.#alarmsSet++;
    await this.ctx.storage.setAlarm(atMs);
  }

  #load(key: string): HeldRow | undefined {
    const held = this.#held.get(key);
    if (held !== undefined) {
      // Most recently used last, so that #shrink meets the oldest first.
      this.#held.delete(key);
      this.#held.set(key, held);
      return held;
    }
    const row = this.#tablesIfAny()?.rows.read(key);
    if (row === undefined) return undefined;
    // The row was written when it was last heard of, or a little later.
    const loaded: HeldRow = { row, writtenAtMs: row.lastAtMs, told: toldBy(row), inSums: inSumsOf(row), times: [] };
    this.#held.set(key, loaded);
    return loaded;
  }

  #loadOrBegin(key: string): HeldRow {
    const loaded = this.#load(key);
    if (loaded !== undefined) return loaded;
    const connections = this.#forgotten.openOf(key);
    const row = { ...EMPTY_ROW, client: { ...EMPTY_CLIENT, connections } };
    const begun: HeldRow = { row, writtenAtMs: 0, told: undefined, inSums: inSumsOf(row), times: [] };
    this.#held.set(key, begun);
    return begun;
  }

  /**
   * Keeps memory bounded.
   *
   * @param onlyClean Whether only rows without changes may go. Otherwise, more clients in ten seconds than memory holds are written
   *   before they are due.
   */
  #shrink(onlyClean = false): void {
    const excess: string[] = [];
    for (const key of this.#held.keys()) {
      if (this.#held.size - excess.length <= HELD_MAX) break;
      if (!onlyClean || !this.#dirty.has(key)) excess.push(key);
    }
    const dirty = excess.filter((key) => this.#dirty.has(key));
    this.#write(dirty, Date.now());
    for (const key of excess) this.#held.delete(key);
  }

  /** The tables. Undefined if nothing was ever recorded: a look-up must not create the schema. */
  #tablesIfAny(): Tables | undefined {
    if (this.#tables !== undefined) return this.#tables;
    const exists = this.ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'paths'").toArray().length > 0;
    return exists ? this.#tablesOrCreate() : undefined;
  }

  #tablesOrCreate(): Tables {
    if (this.#tables === undefined) {
      migrate(this.ctx.storage, PATH_MIGRATIONS);
      const { sql } = this.ctx.storage;
      this.#forgotten.open(sql);
      this.#tables = { rows: new PathRows(sql), outcomes: new OutcomeRows(sql) };
    }
    return this.#tables;
  }
}

/** When a row that has changed is due to be written. Sums that it changes may be due sooner, or later. */
function rowDueAtMs(key: string, { row, writtenAtMs, inSums }: HeldRow): number {
  // What waits for sums waits with them.
  const isOwn = key.startsWith(CLIENT_PREFIX) && row.assigned === inSums.assigned;
  return writtenAtMs + (isOwn ? CLIENT_WRITE_INTERVAL_MS : WRITE_INTERVAL_MS);
}

function clientKey(client: string): string {
  return CLIENT_PREFIX + client;
}

function networkKey(network: string): string {
  return `network ${network}`;
}

/** The row of a level that this client belongs to. Undefined where that is not known. */
function levelKey(level: UpperLevel, { network, asn }: Pick<ClientKeys, "network" | "asn">): string | undefined {
  switch (level) {
    case "network":
      return networkKey(network);
    case "asn":
      return asn === undefined ? undefined : `asn ${asn}`;
    case "site":
      return "site";
  }
}
