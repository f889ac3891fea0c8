import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { migrate } from "./migrations.ts";
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
