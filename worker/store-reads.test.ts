import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { bindings, freshStorage } from "../durable/testing.ts";
import { HOUR_MS, HOURS_KEPT } from "../policy-api/api/counters/counted.ts";
import { apiPorts } from "./api-ports.ts";
import { Isolate } from "./isolate.ts";
import { REGIONS } from "./region.ts";
import { counterStore, durableStores, pathObject, pathStore } from "./stores.ts";
import { SETTINGS } from "./testing.ts";

freshStorage();

const OBJECTS_PER_REGION = 8;
const CLIENTS = 200_000;

/** Keeps the cursors of an object's queries, each of which says how many rows it read. */
function watch({ sql }: DurableObjectStorage, cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[]): void {
  const exec = sql.exec.bind(sql);
  sql.exec = ((...query: Parameters<typeof exec>) => {
    const cursor = exec(...query);
    cursors.push(cursor);
    return cursor;
  }) as typeof exec;
}

it(
  `with ${CLIENTS} clients in ${REGIONS.length} regions, what people ask for reads no client but the one they ask for`,
  { timeout: 120_000 },
  async () => {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const rowsRead = (): number => cursors.splice(0).reduce((sum, { rowsRead: rows }) => sum + rows, 0);
    const clients = CLIENTS / REGIONS.length / OBJECTS_PER_REGION;
    for (const region of REGIONS) {
      for (let number = 0; number < OBJECTS_PER_REGION; number++) {
        const stub = pathStore(bindings, pathObject(region, number));
        await stub.record([
          {
            client: "a",
            network: "b",
            samples: [{ transport: "tcp", connectionId: "c", atMs: Date.now(), rttMs: 20, closing: true }],
            answers: [],
          },
        ]);
        await runInDurableObject(stub, (_, { storage }) => {
          storage.sql.exec(
            `INSERT INTO paths (key, last_at_ms, network, packets, state)
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
             SELECT 'client ' || i, ?, '', 0, '{}' FROM n`,
            clients,
            Date.now(),
          );
          watch(storage, cursors);
        });
      }
      const hour = Math.floor(Date.now() / HOUR_MS);
      const counters = counterStore(bindings, region);
      await counters?.add({ isolate: "i", number: 1, counted: { "offers|taken": 1 } });
      if (counters === undefined) continue;
      await runInDurableObject(counters, (_, { storage }) => {
        storage.sql.exec(
          `INSERT OR IGNORE INTO hours (hour, first_hour, counted, numbers, before)
           WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
           SELECT ? - i, ?, '{"offers|taken": 1}', '{}', '{}' FROM n`,
          HOURS_KEPT - 1,
          hour,
          hour - HOURS_KEPT,
        );
        watch(storage, cursors);
      });
    }
    const isolate = new Isolate({ ...SETTINGS, edge: "cloudflare", objectsPerRegion: OBJECTS_PER_REGION });
    const stores = durableStores(bindings);
    const ports = apiPorts(bindings, { isolate, stores, settingsFaults: [] }, createExecutionContext());

    const { tally, objects } = await ports.counters.read(0);
    expect([objects, tally.hours.length]).toEqual([{ asked: 10, answered: 10 }, HOURS_KEPT]);
    const ofCounters = rowsRead();
    expect(ofCounters).toBeGreaterThanOrEqual(REGIONS.length * (HOURS_KEPT - 1));
    expect(ofCounters).toBeLessThanOrEqual(REGIONS.length * (HOURS_KEPT + 10));

    expect((await ports.outcomes.outcomes(1)).objects).toEqual({ asked: 80, answered: 80 });
    await ports.clients.lookUp("192.0.2.7");
    expect(rowsRead()).toBeLessThan(1_000);

    // This alone counts them, and nothing asks for it by itself.
    const { parts } = await ports.counters.kept();
    expect(parts.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThanOrEqual(CLIENTS);
  },
);
