import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import type { ClientReport } from "./client-report.ts";
import { migrate } from "./migrations.ts";
import { PATH_MIGRATIONS } from "./path-rows.ts";
import { bindings, freshStorage } from "./testing.ts";

freshStorage();

const object = () => bindings.PATHS.get(bindings.PATHS.idFromName("local:1"));
const first = (sql: SqlStorage): void => void sql.exec("CREATE TABLE t (a INTEGER)");
const second = (sql: SqlStorage): void => void sql.exec("ALTER TABLE t ADD COLUMN b INTEGER");
const broken = (sql: SqlStorage): void => void sql.exec("ALTER TABLE t ADD COLUMN c INTEGER; SELECT * FROM nowhere");

it("runs what has not run yet, once, in order", async () => {
  await runInDurableObject(object(), (_, { storage }) => {
    migrate(storage, [first]);
    storage.sql.exec("INSERT INTO t VALUES (1)");
    migrate(storage, [first, second]);
    migrate(storage, [first, second]);
    expect(storage.sql.exec("SELECT * FROM t").toArray()).toEqual([{ a: 1, b: null }]);
    expect(storage.sql.exec("SELECT version FROM schema_version").toArray()).toEqual([{ version: 2 }]);
  });
});

it("a migration that fails leaves nothing half done", async () => {
  await runInDurableObject(object(), (_, { storage }) => {
    migrate(storage, [first]);
    expect(() => migrate(storage, [first, second, broken])).toThrow("nowhere");
    expect(storage.sql.exec("SELECT version FROM schema_version").toArray()).toEqual([{ version: 1 }]);
    expect(storage.sql.exec("SELECT * FROM t").columnNames).toEqual(["a"]);
  });
});

// How a release changes the table of paths: a migration at the end, which changes the tables that were set aside too.
it("the next migration of paths finds the rows of this one, in each table, and the store writes on", async () => {
  const report: ClientReport = {
    client: "c1",
    network: "n1",
    samples: [],
    answers: [{ origin: "o", atMs: Date.now(), offerUntilMs: Date.now() + 60_000 }],
  };
  const next = (sql: SqlStorage): void => {
    const tables = sql
      .exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name = 'paths' OR name GLOB 'paths_[0-9]*'")
      .toArray();
    for (const { name } of tables) sql.exec(`ALTER TABLE ${name} ADD COLUMN seen INTEGER NOT NULL DEFAULT 7`);
  };
  const begun = object();
  await begun.record([report]);
  const aside = Date.now();
  await runInDurableObject(begun, (_, { storage }) => {
    const { sql } = storage.sql.exec<{ sql: string }>("SELECT sql FROM sqlite_master WHERE name = 'paths'").one();
    storage.sql.exec(`ALTER TABLE paths RENAME TO paths_${aside}`);
    storage.sql.exec(sql);
    migrate(storage, [...PATH_MIGRATIONS, next]);
    expect(storage.sql.exec("SELECT version FROM schema_version").one()).toEqual({
      version: PATH_MIGRATIONS.length + 1,
    });
  });
  await evictDurableObject(begun);
  expect((await begun.lookUp(report)).offers?.origins).toMatchObject([{ origin: "o" }]);
  await begun.record([{ ...report, client: "c2" }]);
  await runInDurableObject(begun, (_, { storage }) => {
    const seen = [`paths_${aside}`, "paths"].map((table) =>
      storage.sql.exec(`SELECT key, seen FROM ${table}`).toArray(),
    );
    expect(seen).toEqual([[{ key: "client c1", seen: 7 }], [{ key: "client c2", seen: 7 }]]);
  });
});
