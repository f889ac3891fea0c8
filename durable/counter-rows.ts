import { type Counted, type Hour, HOURS_KEPT, sumOf } from "../policy-api/api/counters/counted.ts";
import { storedJson } from "./read-stored.ts";

export const COUNTER_MIGRATIONS: readonly ((sql: SqlStorage) => void)[] = [
  (sql) =>
    sql.exec(`CREATE TABLE hours (
      hour INTEGER PRIMARY KEY,
      first_hour INTEGER NOT NULL,
      counted TEXT NOT NULL,
      numbers TEXT NOT NULL
    )`),
  // The last row alone says what there was before it, and which isolates told: a start reads one row.
  (sql) => {
    sql.exec("ALTER TABLE hours ADD COLUMN before TEXT NOT NULL DEFAULT '{}'");
    const rows = sql.exec<Pick<Row, "hour" | "counted">>("SELECT hour, counted FROM hours ORDER BY hour").toArray();
    const last = rows.pop();
    if (last === undefined) return;
    sql.exec("UPDATE hours SET before = ? WHERE hour = ?", JSON.stringify(sumOf(rows.map(countedOf))), last.hour);
    sql.exec("UPDATE hours SET numbers = '[]' WHERE hour < ?", last.hour);
    sql.exec("DELETE FROM hours WHERE hour < 0");
  },
];

type Row = { hour: number; first_hour: number; counted: string; numbers: string; before: string };

/** The hour that was counted last. */
export interface LastHour extends Hour {
  /** The first hour that was ever counted. */
  readonly firstHour: number;
  /** Of all hours before it. */
  readonly before: Counted;
  /** The last number of each isolate that told. */
  readonly numbers: ReadonlyMap<string, number>;
}

/** The table of counters: a row an hour. */
export class CounterRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  write({ hour, counted, numbers, firstHour, before }: LastHour): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO hours (hour, first_hour, counted, numbers, before) VALUES (?, ?, ?, ?, ?)",
      hour,
      firstHour,
      JSON.stringify(counted),
      JSON.stringify([...numbers]),
      JSON.stringify(before),
    );
  }

  last(): LastHour | undefined {
    const [last] = this.#sql.exec<Row>("SELECT * FROM hours ORDER BY hour DESC LIMIT 1").toArray();
    return (
      last && {
        hour: last.hour,
        firstHour: last.first_hour,
        counted: countedOf(last),
        before: countedOf({ counted: last.before }),
        numbers: numbersOf(last),
      }
    );
  }

  /** From one hour on and before another, oldest first. */
  hours(fromHour: number, toHour: number): Hour[] {
    return this.#sql
      .exec<Pick<Row, "hour" | "counted">>(
        "SELECT hour, counted FROM hours WHERE hour >= ? AND hour < ? ORDER BY hour",
        fromHour,
        toHour,
      )
      .toArray()
      .map((row) => ({ hour: row.hour, counted: countedOf(row) }))
      .filter(({ counted }) => Object.keys(counted).length > 0);
  }

  /** Leaves this hour's row, those of the hours that are kept before it, and in them what was counted alone. */
  trim(hour: number): void {
    this.#sql.exec("DELETE FROM hours WHERE hour <= ? OR hour > ?", hour - HOURS_KEPT, hour);
    this.#sql.exec("UPDATE hours SET numbers = '[]', before = '{}' WHERE hour < ? AND numbers <> '[]'", hour);
  }
}

function countedOf({ counted }: Pick<Row, "counted">): Counted {
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
