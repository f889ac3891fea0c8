import { type Counted, type Hour, HOURS_KEPT, sumOf } from "../policy-api/counters/counted.ts";
import { storedJson } from "./read-stored.ts";

/** The row of all hours that are not kept any more. */
const OLDER = -1;

export const COUNTER_MIGRATIONS: readonly ((sql: SqlStorage) => void)[] = [
  (sql) =>
    sql.exec(`CREATE TABLE hours (
      hour INTEGER PRIMARY KEY,
      first_hour INTEGER NOT NULL,
      counted TEXT NOT NULL,
      numbers TEXT NOT NULL
    )`),
];

type Row = { hour: number; first_hour: number; counted: string; numbers: string };

/** The hour that was counted last, with the last number of each isolate that told of it. */
export interface LastHour extends Hour {
  readonly numbers: ReadonlyMap<string, number>;
}

/** The table of counters: a row an hour, and one for all that is older. */
export class CounterRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  write({ hour, counted, numbers }: LastHour, firstHour = hour): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO hours (hour, first_hour, counted, numbers) VALUES (?, ?, ?, ?)",
      hour,
      firstHour,
      JSON.stringify(counted),
      JSON.stringify([...numbers]),
    );
  }

  last(): LastHour | undefined {
    const [last] = this.#sql
      .exec<Row>("SELECT * FROM hours WHERE hour > ? ORDER BY hour DESC LIMIT 1", OLDER)
      .toArray();
    return last && { hour: last.hour, counted: countedOf(last), numbers: numbersOf(last) };
  }

  /** The sum of all hours before this one. */
  before(hour: number): Counted {
    return sumOf(this.#sql.exec<Row>("SELECT * FROM hours WHERE hour < ?", hour).toArray().map(countedOf));
  }

  /** From this hour on, oldest first. */
  hours(fromHour: number): Hour[] {
    return this.#sql
      .exec<Row>("SELECT * FROM hours WHERE hour >= ? ORDER BY hour", Math.max(0, fromHour))
      .toArray()
      .map((row) => ({ hour: row.hour, counted: countedOf(row) }));
  }

  /** The first hour that was ever counted. */
  first(): number | undefined {
    const [row] = this.#sql.exec<{ first: number | null }>("SELECT min(first_hour) AS first FROM hours").toArray();
    return row?.first ?? undefined;
  }

  /** Hours that are too old go into the sum of those before. */
  expire(hour: number): void {
    const until = hour - HOURS_KEPT;
    const old = this.#sql.exec<Row>("SELECT * FROM hours WHERE hour <= ?", until).toArray();
    if (old.every((row) => row.hour === OLDER)) return;
    this.#sql.exec("DELETE FROM hours WHERE hour <= ?", until);
    const firstHour = Math.min(...old.map((row) => row.first_hour));
    this.write({ hour: OLDER, counted: sumOf(old.map(countedOf)), numbers: new Map() }, firstHour);
  }
}

function countedOf({ counted }: Row): Counted {
  const read = storedJson(counted);
  return typeof read === "object" && read !== null ? sumOf([read as Counted]) : {};
}

function numbersOf({ numbers }: Row): ReadonlyMap<string, number> {
  const read = storedJson(numbers);
  const pairs: readonly unknown[] = Array.isArray(read) ? read : [];
  return new Map(
    pairs.flatMap((pair): [string, number][] =>
      Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "number" ? [[pair[0], pair[1]]] : [],
    ),
  );
}
