// The whole worker with real objects, as on Cloudflare: pages are asked, report, and what they say reaches what is known.
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PathStore } from "../../durable/path-store.ts";
import { bindings, freshStorage } from "../../durable/testing.ts";
import { seenAt } from "../../policy-api/decision/connections.ts";
import type { Remembered } from "../../policy-api/decision/history.ts";
import { adaptivePolicy } from "../../policy-api/decision/testing.ts";
import { pageReport } from "../../policy-api/visitors/testing-pages.ts";
import { COUNTED_PAGES_MAX } from "../../policy-api/visitors/counted-pages.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { handleVisitor } from "../handler.ts";
import { Isolate } from "../isolate.ts";
import { durableStores, pathObject, pathStore, policyStore } from "../stores.ts";
import { counted as countCalls, mode, navigation, PAGE_HEADERS, SETTINGS } from "../testing.ts";
import { visitOf } from "../visit.ts";
import { receiveReport } from "./report-endpoint.ts";
import { readToken } from "./token.ts";

freshStorage();

const stores = durableStores(bindings);
const settings = { ...SETTINGS, edge: "cloudflare", objectsPerRegion: 1, budgetMs: 1_000 } as const;
const CF = { httpProtocol: "HTTP/2", clientTcpRtt: 40, colo: "NRT" };
const l4 = (sent: number, lost: number, cid = "ab"): string =>
  `?proto=TCP&rtt=40000&min_rtt=38000&sent=${sent}&lost=${lost}&sent_bytes=${sent * 1400}&delivery_rate=2000000&cid=${cid}`;

let isolate: Isolate;
beforeEach(async () => {
  vi.stubGlobal("fetch", async () => new Response("<!doctype html><head>", { headers: PAGE_HEADERS }));
  // What is gathered leaves at once, because these tests look at the objects. A page waits for as long as its look-up takes.
  vi.stubGlobal("scheduler", { wait: (ms: number) => (ms > 1_000 ? Promise.resolve() : new Promise(() => undefined)) });
  const policy = { ...mode("observe"), reports: { share: 1, inject: false } };
  await inForce(policy, 1);
  isolate = new Isolate(settings);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

async function inForce(policy: Policy, version: number): Promise<void> {
  const store = policyStore(bindings);
  await store.create({ policy, author: "test", note: null });
  await store.change({ kind: "put", everyone: version, stages: [] }, { author: "test", note: null, ifMatch: "*" });
}

/** Loads a page, and returns what it can read in Server-Timing. */
async function load(address: string): Promise<string> {
  const ctx = createExecutionContext();
  const request = navigation(CF, { "cf-connecting-ip": address });
  const response = await handleVisitor(request, new URL(request.url), stores, ctx, isolate);
  await waitOnExecutionContext(ctx);
  return /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1] ?? "";
}

async function post(address: string, body: string): Promise<number> {
  const ctx = createExecutionContext();
  const request = new Request("https://site.test/_h3/v1/report", {
    method: "POST",
    headers: { "cf-connecting-ip": address },
    body,
    cf: CF as never,
  });
  const { status } = await receiveReport(visitOf(request, new URL(request.url), stores, ctx, isolate));
  await waitOnExecutionContext(ctx);
  return status;
}

/** A report of a page that took 400 ms. It arrives within the second, so it was made within that. */
const reportOf = (token: string, connections: readonly object[] = []): string =>
  JSON.stringify({ ...pageReport(), token, atMs: 500, connections });

async function known(address: string): Promise<Remembered> {
  const hasher = isolate.policyCache.current?.hasher;
  if (hasher === undefined) throw new Error("no key");
  const network = `${address.split(".").slice(0, 3).join(".")}.0/24`;
  return stores.lookUp({ keys: hasher.named({ client: address, network }, 1).keys, object: pathObject("local", 0) });
}

const packets = ({ client }: Remembered): readonly (readonly [number, number])[] =>
  (client?.connections ?? [])
    .map((one) => seenAt(one, Date.now()))
    .filter((one) => one.packets > 0)
    .map((one) => [one.packets, one.lost]);

it("what a page's connection counted is known of the client, and the same connection on the next page is not a second one", async () => {
  await post("192.0.2.7", reportOf(await load("192.0.2.7"), [{ l4: l4(500, 25), agoMs: 100 }]));
  expect(packets(await known("192.0.2.7"))).toEqual([[500, 25]]);
  await post("192.0.2.7", reportOf(await load("192.0.2.7"), [{ l4: l4(900, 30), agoMs: 0 }]));
  expect(packets(await known("192.0.2.7"))).toEqual([[900, 30]]);
  expect(isolate.counters.readBy("reports", "fate")).toEqual({ accepted: 2 });
});

it("a report that comes again changes nothing", async () => {
  const body = reportOf(await load("192.0.2.7"), [{ l4: l4(500, 25), agoMs: 100 }]);
  await post("192.0.2.7", body);
  const before = (await known("192.0.2.7")).client?.connections.filter(({ id }) => id.startsWith("page:"));
  // The same page, with other figures.
  await post("192.0.2.7", body.replace("sent=500", "sent=900"));
  for (let i = 0; i < 3; i++) await post("192.0.2.7", body);
  const after = (await known("192.0.2.7")).client?.connections.filter(({ id }) => id.startsWith("page:"));
  expect(after).toEqual(before);
  expect(isolate.counters.readBy("reports", "fate")).toEqual({ accepted: 5, replayed: 4 });
});

it("what one client can say of its paths, however large, is bounded, and nothing to a neighbour", async () => {
  for (let i = 0; i < COUNTED_PAGES_MAX + 5; i++)
    await post("192.0.2.7", reportOf(await load("192.0.2.7"), [{ l4: l4(5e8, 2.5e8, `c${i}`), agoMs: 0 }]));
  const liar = await known("192.0.2.7");
  expect(packets(liar).length).toBeLessThanOrEqual(8);
  expect(await known("192.0.2.8")).toEqual({});
  expect(isolate.counters.readBy("reports", "fate")).toEqual({ accepted: COUNTED_PAGES_MAX + 5, crowded: 5 });
});

/** The place that a token gives to its page. */
function placeOf({ policyCache: { current } }: Isolate, client: string, token: string): string | undefined {
  const hasher = current?.hasher;
  return hasher && readToken(token, hasher.named({ client, network: "" }, 1).keys.client, hasher)?.decision.position;
}

it("a page of a drawn arm is the next one, also a moment later at another isolate", async () => {
  const policy = adaptivePolicy({ exploration: { share: 1 }, reports: { share: 1, inject: false } });
  await inForce(policy, 2);
  const counting = countCalls(stores);
  const isolates = [new Isolate(settings), new Isolate(settings)] as const;
  // What is gathered stays in its isolate.
  vi.stubGlobal("scheduler", { wait: () => new Promise(() => undefined) });
  const pageAt = async (at: Isolate, address: string): Promise<string | undefined> => {
    const request = navigation(CF, { "cf-connecting-ip": address });
    const ctx = createExecutionContext();
    const response = await handleVisitor(request, new URL(request.url), counting.stores, ctx, at);
    // After the response, and not after the ten seconds.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setTimeout(resolve, 0)).then(counting.answered);
    const token = /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1] ?? "";
    return placeOf(at, address, token);
  };
  for (const [i, at] of isolates.entries()) expect(await pageAt(at, `198.51.100.${i + 1}`)).toBe("new");
  const positions = [];
  for (const i of [0, 1, 0, 1]) positions.push(await pageAt(isolates[i] as Isolate, "192.0.2.7"));
  expect(positions).toEqual(["new", "next", "next", "next"]);
  // One of each for a page.
  expect(counting.counts).toMatchObject({ lookUp: 6, record: 6 });
});

it.each([
  ["a redirect leads to, in the same draw, is still the first one", 302, false, "new"],
  ["comes after an answer that is no page is a later one", 404, false, "next"],
  ["a redirect leads to, of a client that came before the draw, counts in no arm", 302, true, "redrawn"],
])("a page that %s", async (_name, status, wasHere, position) => {
  if (wasHere) await post("192.0.2.7", reportOf(await load("192.0.2.7")));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  await inForce(adaptivePolicy({ exploration: { share: 1 }, reports: { share: 1, inject: false } }), 2);
  isolate = new Isolate(settings);
  const page = fetch;
  vi.stubGlobal("fetch", async () => new Response(null, { status, headers: { location: "/home" } }));
  expect(await load("192.0.2.7")).toBe("");
  vi.stubGlobal("fetch", page);
  expect(placeOf(isolate, "192.0.2.7", await load("192.0.2.7"))).toBe(position);
});

/** Sums of outcomes, and what each client added to them, once all that waits is on disk. */
async function outcomes(): Promise<{ sums: ReturnType<PathStore["outcomes"]>; clients: readonly object[] }> {
  const object = pathStore(bindings, pathObject("local", 0));
  await runDurableObjectAlarm(object);
  return runInDurableObject(object, (store, { storage }) => ({
    sums: store.outcomes(2),
    clients: storage.sql
      .exec("SELECT key, state -> '$.assigned', state -> '$.countedPages' FROM paths ORDER BY key")
      .toArray(),
  }));
}

it("1,000 forged, replayed and changed reports change counters alone: nothing that is known of a client, and no sum of outcomes", async () => {
  // What is known fades with time, and no clock may hide a change.
  vi.useFakeTimers({ toFake: ["Date"] });
  await inForce(adaptivePolicy({ exploration: { share: 1 }, reports: { share: 1, inject: false } }), 2);
  const counted = reportOf(await load("192.0.2.7"), [{ l4: l4(500, 25), agoMs: 100 }]);
  await post("192.0.2.7", counted);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => load("192.0.2.7")));
  const summed = await outcomes();
  expect(summed.sums.find(({ key }) => key === "all")?.sums).toMatchObject({
    assigned: { clients: 1n },
    load: { clients: 1n },
  });
  const before = await known("192.0.2.7");
  const good = reportOf(tokens[0] ?? "", [{ l4: l4(800, 400), agoMs: 0 }]);
  const kinds: readonly ((i: number) => readonly [address: string, body: string])[] = [
    // Of a token, one character is another one.
    (i) => ["192.0.2.7", good.replace(tokens[0] ?? "", changedAt(tokens[i % 20] ?? "", i % 64))],
    // By another client.
    (i) => [`198.51.100.${i % 250}`, good],
    (i) => ["192.0.2.7", good.replace(/"token":"[^"]*"/, `"token":"${i.toString(36).padEnd(64, "x")}"`)],
    // Cut off.
    (i) => ["192.0.2.7", good.slice(0, i % good.length)],
    // Figures that cannot be.
    () => ["192.0.2.7", good.replace('"loadMs":400', '"loadMs":10')],
    () => ["192.0.2.7", good.replace('"atMs":500', '"atMs":3000000')],
    () => ["192.0.2.7", good.replace("lost=400", "lost=900")],
    () => ["192.0.2.7", good.replace('"protocol":"h2"', '"protocol":"h3"')],
    (i) => ["192.0.2.7", good.replace("{", `{"more${i}":1,`)],
    () => ["192.0.2.7", `${good}${" ".repeat(4_000)}`],
  ];
  for (let i = 0; i < 900; i++) {
    const [address, body] = (kinds[i % kinds.length] as (typeof kinds)[number])(i);
    await post(address, body);
  }
  expect(await known("192.0.2.7")).toEqual(before);
  expect((await known("198.51.100.1")).client).toBeUndefined();
  const { accepted, ...refused } = isolate.counters.readBy("reports", "fate");
  expect(accepted).toBe(1);
  expect(Object.values(refused).reduce((sum, count) => sum + count, 0)).toBe(900);
  expect(Object.keys(refused).toSorted()).toEqual(["absurd", "malformed", "oversized", "unsigned"]);

  // The page that counted comes again, as it was and with other figures.
  for (let i = 0; i < 100; i++)
    await post("192.0.2.7", i % 2 === 0 ? counted : counted.replace("lost=25", `lost=${i % 500}`));
  expect(await known("192.0.2.7")).toEqual(before);
  expect(await outcomes()).toEqual(summed);
  expect(isolate.counters.readBy("reports", "fate")).toEqual({ ...refused, accepted: 101, replayed: 100 });
}, 120_000);

function changedAt(token: string, at: number): string {
  return token.slice(0, at) + (token[at] === "A" ? "B" : "A") + token.slice(at + 1);
}
