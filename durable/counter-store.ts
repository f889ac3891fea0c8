import { DurableObject } from "cloudflare:workers";
import { type Counted, type Delta, HOUR_MS, NO_TALLY, sumOf, type Tally } from "../policy-api/counters/counted.ts";
import { COUNTER_MIGRATIONS, CounterRows, type LastHour } from "./counter-rows.ts";
import { migrate } from "./migrations.ts";

/**
 * Counts wait in memory for this long at most, milliseconds: a write is billed. Well below the 10 s after which the runtime ends an
 * object that nobody asks, and what waits there with it.
 */
const WRITE_INTERVAL_MS = 5_000;
/** Isolates that are known by name. Of one that has told nothing for longer than so many others, a repetition would count twice. */
const ISOLATES_MAX = 1_000;

/**
 * What the isolates of a region counted: hour by hour, and in all. Each delta counts once, however often it is told. What an
 * isolate was told to be counted is on disk five seconds later; a kill loses that and never counts anything twice.
 */
export class CounterStore extends DurableObject {
  #rows: CounterRows | undefined;
  /** The hour that is being counted. */
  #present: LastHour | undefined;
  /** Of all hours before the present one. */
  #before: Counted = {};
  #writtenAtMs = 0;
  #isWaiting = false;

  /** Adds what an isolate counted, unless it was added before. */
  async add({ isolate, number, counted }: Delta): Promise<void> {
    const nowMs = Date.now();
    const present = this.#presentAt(nowMs);
    if (number <= (present.numbers.get(isolate) ?? 0)) return;
    const numbers = new Map(present.numbers);
    // The most recent one last.
    numbers.delete(isolate);
    numbers.set(isolate, number);
    for (const [oldest] of numbers) {
      if (numbers.size <= ISOLATES_MAX) break;
      numbers.delete(oldest);
    }
    this.#present = { ...present, counted: sumOf([present.counted, counted]), numbers };
    if (nowMs - this.#writtenAtMs >= WRITE_INTERVAL_MS || nowMs < this.#writtenAtMs) return this.#write(nowMs);
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    await this.ctx.storage.setAlarm(this.#writtenAtMs + WRITE_INTERVAL_MS);
  }

  /** What was counted: in all, and in each hour from this one on. What is told is on disk, so that no total falls again. */
  read(fromHour: number): Tally {
    const rows = this.#rowsIfAny();
    if (rows === undefined) return NO_TALLY;
    const { hour, counted } = this.#presentAt(Date.now());
    if (this.#isWaiting) this.#write(Date.now());
    const written = rows.hours(fromHour).filter((row) => row.hour !== hour);
    const isAsked = hour >= fromHour && Object.keys(counted).length > 0;
    return {
      sinceHour: rows.first() ?? hour,
      totals: sumOf([this.#before, counted]),
      hours: isAsked ? [...written, { hour, counted }] : written,
    };
  }

  override alarm(): void {
    this.#isWaiting = false;
    this.#write(Date.now());
  }

  /** The hour that is being counted, read or begun. */
  #presentAt(nowMs: number): LastHour {
    const rows = this.#rowsOrCreate();
    const hour = Math.floor(nowMs / HOUR_MS);
    const last = this.#present ?? rows.last() ?? { hour, counted: {}, numbers: new Map<string, number>() };
    if (this.#present === undefined) this.#before = rows.before(last.hour);
    this.#present = last;
    // Also after the clock was set back: then that hour goes on.
    if (last.hour >= hour) return last;
    this.#write(nowMs);
    rows.expire(hour);
    this.#before = sumOf([this.#before, last.counted]);
    // What was told in the hour before, and got no answer, is told again in this one.
    this.#present = { hour, counted: {}, numbers: last.numbers };
    return this.#present;
  }

  #write(nowMs: number): void {
    if (this.#present === undefined) return;
    this.#rowsOrCreate().write(this.#present);
    this.#writtenAtMs = nowMs;
  }

  #rowsIfAny(): CounterRows | undefined {
    if (this.#rows !== undefined) return this.#rows;
    const exists = this.ctx.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'hours'").toArray().length > 0;
    return exists ? this.#rowsOrCreate() : undefined;
  }

  #rowsOrCreate(): CounterRows {
    if (this.#rows === undefined) {
      migrate(this.ctx.storage, COUNTER_MIGRATIONS);
      this.#rows = new CounterRows(this.ctx.storage.sql);
    }
    return this.#rows;
  }
}
