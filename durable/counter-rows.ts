import { type Counted, type Hour, HOURS_KEPT, sumOf } from "../policy-api/api/counters/counted.ts";
import { type Database, storedJson } from "./database.ts";

export const COUNTER_MIGRATIONS: readonly ((sql: SqlStorage) => void)[] = [
  // The last row alone says what there was before it, and the last number of each isolate: a start reads one row.
  (sql) =>
    sql.exec(`CREATE TABLE hours (
      hour INTEGER PRIMARY KEY,
      first_hour INTEGER NOT NULL,
      counted TEXT NOT NULL,
      numbers TEXT NOT NULL,
      before TEXT NOT NULL
    )`),
];

type Row = { hour: number; first_hour: number; counted: string; numbers: string; before: string };

/** The hour that was counted last. */
export interface LastHour extends Hour {
  /** The first hour that was ever counted. */
  readonly firstHour: number;
  /** Of all hours before it. */
  readonly before: Counted;
  /** The number of the last delta of each isolate. */
  readonly numbers: ReadonlyMap<string, number>;
}

/** The table of counters: a row an hour. */
export class CounterRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  write({ hour, counted, numbers, firstHour, before }: LastHour): void {
    const row = {
      hour,
      first_hour: firstHour,
      counted: JSON.stringify(counted),
      numbers: JSON.stringify(Object.fromEntries(numbers)),
      before: JSON.stringify(before),
    };
    this.#database.put("hours", row, ["hour"]);
  }

  last(): LastHour | undefined {
    const [last] = this.#database.all<Row>("SELECT * FROM hours ORDER BY hour DESC LIMIT 1");
    return (
      last && {
        hour: last.hour,
        firstHour: last.first_hour,
        counted: countedIn(last.counted),
        before: countedIn(last.before),
        numbers: numbersIn(last.numbers),
      }
    );
  }

  /** From one hour on and before another, oldest first. */
  hours(fromHour: number, toHour: number): Hour[] {
    return this.#database
      .all<Row>("SELECT * FROM hours WHERE hour >= ? AND hour < ? ORDER BY hour", fromHour, toHour)
      .map(({ hour, counted }) => ({ hour, counted: countedIn(counted) }))
      .filter(({ counted }) => Object.keys(counted).length > 0);
  }

  /** Leaves this hour's row, those of the hours that are kept before it, and in them what was counted alone. */
  trim(hour: number): void {
    this.#database.run("DELETE FROM hours WHERE hour <= ? OR hour > ?", hour - HOURS_KEPT, hour);
    this.#database.run("UPDATE hours SET numbers = '{}', before = '{}' WHERE hour < ? AND numbers <> '{}'", hour);
  }
}

function countedIn(text: string): Counted {
  return sumOf([(storedJson(text) ?? {}) as Counted]);
}

/** What is no number is left out. */
function numbersIn(text: string): ReadonlyMap<string, number> {
  const entries = Object.entries(storedJson(text) ?? {});
  return new Map(entries.filter((entry): entry is [string, number] => typeof entry[1] === "number"));
}
