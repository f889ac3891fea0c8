import { DurableObject } from "cloudflare:workers";
import { type Delta, HOUR_MS, NO_TALLY, sumOf, type Tally } from "../policy-api/api/counters/counted.ts";
import { COUNTER_MIGRATIONS, CounterRows, type LastHour } from "./counter-rows.ts";
import { Database } from "./database.ts";
import { migrate } from "./migrations.ts";

/**
 * Counts wait in memory for this long at most, milliseconds: a write is billed. Below the 10 s after which the runtime ends an
 * object that nobody asks, and what waits there with it.
 */
const WRITE_INTERVAL_MS = 8_000;
/** Isolates that are known by name. Of one that has sent nothing for longer than so many others, a repetition would count twice. */
const ISOLATES_MAX = 1_000;

/**
 * What the isolates of a region counted: hour by hour, and in all. Each delta counts once, however often it comes. What a
 * delta said, once it is acknowledged, is on disk eight seconds later; a kill loses that and never counts anything twice.
 */
export class CounterStore extends DurableObject {
  #rows: CounterRows | undefined;
  /** The hour that is being counted. */
  #present: LastHour | undefined;
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

  /** What was counted: in all, and in each hour from this one on. What this returns is on disk, so that no total falls again. */
  read(fromHour: number): Tally {
    const rows = this.#rowsIfAny();
    if (rows === undefined) return NO_TALLY;
    const { hour, counted, before, firstHour } = this.#presentAt(Date.now());
    if (this.#isWaiting) this.#write(Date.now());
    const written = rows.hours(fromHour, hour);
    const isAsked = hour >= fromHour && Object.keys(counted).length > 0;
    return {
      sinceHour: firstHour,
      totals: sumOf([before, counted]),
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
    const last = this.#present ??
      rows.last() ?? { hour, firstHour: hour, counted: {}, before: {}, numbers: new Map<string, number>() };
    this.#present = last;
    // Also where the clock was set back a little: then that hour goes on.
    if (last.hour === hour || last.hour === hour + 1) return last;
    this.#write(nowMs);
    const before = sumOf([last.before, last.counted]);
    // What was sent in the hour before, and got no answer, comes again in this one.
    this.#present = { ...last, hour, counted: {}, before, firstHour: Math.min(last.firstHour, hour) };
    // First the row that says what was before, in one transaction with the end of the rows that said it.
    this.#write(nowMs);
    rows.trim(hour);
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
      this.#rows = new CounterRows(new Database(this.ctx.storage.sql));
    }
    return this.#rows;
  }
}
