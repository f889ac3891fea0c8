// A flood of new clients of drawn arms, through an isolate's buffer into a real object: what it holds, and whom it pushes out.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ClientKeys, ClientReport } from "../durable/client-report.ts";
import { PLACE_KEYS_MAX } from "../durable/outcome-rows.ts";
import { ROWS_MAX } from "../durable/path-rows.ts";
import { CACHED_MAX, type PathStore } from "../durable/path-store.ts";
import { bindings, freshStorage } from "../durable/testing.ts";
import { periodAt } from "../policy-api/decision/assignment.ts";
import { parse } from "../policy-api/decision/parse.ts";
import { sample } from "../policy-api/decision/testing.ts";
import { type AssignedClient, readAssignedClient } from "../policy-api/visitors/assigned-client.ts";
import { outcomeOf } from "../policy-api/visitors/page-outcome.ts";
import { NO_SUMS, type Sums } from "../policy-api/visitors/sums.ts";
import { askedPage, pageReport } from "../policy-api/visitors/testing-pages.ts";
import { add } from "../policy-api/visitors/testing.ts";
import { Counters } from "./counters.ts";
import { GATHER_MS, ReportBuffer } from "./report-buffer.ts";

freshStorage();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const VERSION = 3;
/** What an isolate tells an object of at a time: of all networks, and of one. */
const TOLD_MAX = 2_000;
const TOLD_OF_NETWORK_MAX = 250;
const QUIET = Array.from({ length: 5 }, (_, i) => ({ client: `quiet${i}`, network: `q${i}` }));

const object = () => bindings.PATHS.get(bindings.PATHS.idFromName("local:0"));

/** Whom the object was told of, the latest last. */
const order: string[] = [];

/** Ten seconds of a flood: each client has a page that was asked, and its report. @returns how many clients were told of. */
async function flood(buffer: ReportBuffer, clients: number, keysOf: (i: number) => ClientKeys): Promise<number> {
  const nowMs = Date.now();
  for (let i = 0; i < clients; i++) {
    const arm = i % 2 === 0 ? "offer" : "withhold";
    const keys = keysOf(i);
    const nonce = `${i} ${nowMs}`;
    const decided = askedPage(nonce, {
      policyVersion: VERSION,
      arm,
      place: { rtt: 3, size: 1 },
      atMs: nowMs,
      period: periodAt(nowMs),
    });
    const outcome = outcomeOf(decided, pageReport({ loadMs: 200 + (i % 1_500) }), { transport: "tcp" });
    buffer.add("local:0", keys, { decided }, nowMs);
    buffer.add("local:0", keys, { page: { nonce, outcome, samples: [] } }, nowMs);
  }
  let told: readonly ClientReport[] = [];
  await buffer.flush("local:0", nowMs, async (reports) => {
    told = reports;
    order.push(...reports.map(({ client }) => `client ${client}`));
    await object().record(reports);
  });
  vi.setSystemTime(nowMs + GATHER_MS);
  return told.length;
}

type Rows = ReadonlyMap<string, AssignedClient | undefined>;

/** The clients' rows. */
async function rows(): Promise<Rows> {
  return runInDurableObject(object(), (_, { storage }) => {
    const all = storage.sql
      .exec<{ key: string; assigned: string | null }>(
        "SELECT key, state -> '$.assigned' AS assigned FROM paths WHERE network <> ''",
      )
      .toArray();
    return new Map(all.map(({ key, assigned }) => [key, assigned === null ? undefined : readAssigned(assigned)]));
  });
}

function readAssigned(text: string): AssignedClient {
  const parsed = parse(readAssignedClient, JSON.parse(text));
  if (!parsed.ok) throw new Error("A row cannot be read.");
  return parsed.value;
}

function sumsOf(clients: Rows): Record<string, unknown> {
  const sums = new Map<string, Sums>();
  for (const client of clients.values())
    for (const [key, day] of Object.entries(client?.rows ?? {})) {
      const id = `${client?.arm} ${key}`;
      sums.set(id, add(sums.get(id) ?? NO_SUMS, day));
    }
  return Object.fromEntries(sums);
}

const stored = async (): Promise<Record<string, unknown>> =>
  runInDurableObject(object(), (store: PathStore) =>
    Object.fromEntries(store.outcomes(VERSION).map(({ arm, key, sums }) => [`${arm} ${key}`, sums])),
  );

/** How many of these clients, the latest last, the object has in memory: those of whom it does not read what the table says. */
async function heldOf(keys: readonly string[]): Promise<number> {
  return runInDurableObject(object(), (store: PathStore, { storage }) => {
    storage.sql.exec("UPDATE paths SET state = json_set(state, '$.offers.takenAtMs', 42) WHERE network <> ''");
    return keys.toReversed().filter((key) => {
      const found = store.lookUp({ client: key.slice("client ".length) });
      return found.offers !== undefined && found.offers.takenAtMs !== 42;
    }).length;
  });
}

it("holds so many rows, in the table and in memory, pushes out its own first, and all that was told is in the sums", async () => {
  await object().record(
    QUIET.map((keys) => ({
      ...keys,
      samples: [sample({ atMs: Date.now(), packetsSent: 500, packetsLost: 5 })],
      answers: [],
    })),
  );
  vi.setSystemTime(Date.now() + GATHER_MS);
  const buffer = new ReportBuffer(new Counters(0));
  let clients = 0;
  // One /48 that shows new clients without end.
  for (let i = 0; i < 12; i++) {
    const told = await flood(buffer, 400, (n) => ({ client: `crowd${i}/${n}`, network: "crowd", asn: 1 }));
    expect(told).toBe(TOLD_OF_NETWORK_MAX);
    clients += told;
  }
  // And many networks, each with one.
  const fromEverywhere = async (turn: number): Promise<void> => {
    const told = await flood(buffer, 2_500, (n) => ({ client: `${turn}/${n}`, network: `n${turn}/${n}`, asn: 2 + n }));
    expect(told).toBe(TOLD_MAX);
    clients += told;
  };
  for (let turn = 0; turn < 8; turn++) await fromEverywhere(turn);
  const before = await rows();
  expect(before.size).toBe(clients + QUIET.length);
  expect(await stored()).toEqual(sumsOf(before));

  for (let turn = 8; turn < 10; turn++) await fromEverywhere(turn);
  const after = await rows();
  expect(clients).toBe(23_000);
  const all = await runInDurableObject(object(), (_, { storage }) =>
    storage.sql.exec<{ n: number }>("SELECT COUNT(*) AS n FROM paths").one(),
  );
  expect(all.n).toBeGreaterThan(ROWS_MAX * 0.9);
  expect(all.n).toBeLessThanOrEqual(ROWS_MAX);
  // Who was heard of first, and is known, stays.
  for (const { client } of QUIET) expect(after.has(`client ${client}`)).toBe(true);
  expect([...after.keys()].filter((key) => key.startsWith("client crowd")).length).toBeLessThanOrEqual(32);

  // What was pushed out stays in the sums: each client counts once, and no other figure moved.
  const everyone = new Map([...before, ...after]);
  expect(everyone.size).toBe(clients + QUIET.length);
  const sums = await stored();
  expect(sums).toEqual(sumsOf(everyone));
  expect(Object.keys(sums).filter((id) => id.startsWith("offer asn/"))).toHaveLength(PLACE_KEYS_MAX);
  // All, one class of RTT, one cell, and the autonomous systems.
  expect(Object.keys(sums)).toHaveLength(2 * (3 + PLACE_KEYS_MAX));
  // Two pieces of each client that the buffer could not keep.
  expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({ "network-full": 12 * 150 * 2, full: 10 * 500 * 2 });
  const held = await heldOf(order.filter((key) => after.has(key)));
  expect(held).toBeLessThanOrEqual(CACHED_MAX);
  // The others are not of clients.
  expect(held).toBeGreaterThan(CACHED_MAX - 10);
}, 300_000);
