import cubic from "../policy-api/policies/cubic.json" with { type: "json" };
import {
  createExecutionContext,
  runDurableObjectAlarm,
  runInDurableObject,
  waitOnExecutionContext,
} from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { bindings, freshStorage } from "../durable/testing.ts";
import { countCallsAPage, policyCallsAPage } from "../policy-api/cli/cost/bill.ts";
import { COUNTED, type PageCalls, PAGES_A_VISIT as PAGES } from "../policy-api/cli/cost/counted.ts";
import { LOSS_NODES } from "../policy-api/decision/loss-nodes.ts";
import { parsePolicy } from "../policy-api/decision/policy.ts";
import { adaptivePolicy } from "../policy-api/decision/testing.ts";
import { pageReport } from "../policy-api/visitors/testing-pages.ts";
import { numbers } from "../policy-api/visitors/testing.ts";
import { handleVisitor } from "./handler.ts";
import { Isolate } from "./isolate.ts";
import { cacheNearby, type Nearby } from "./nearby.ts";
import { receiveReport } from "./reporter/report-endpoint.ts";
import { readSettings, type Settings } from "./settings.ts";
import { durableStores, pathObject, pathStore, policyStore, type Stores } from "./stores.ts";
import {
  CF_H2,
  counted as countCalls,
  FakeStores,
  navigation,
  PAGE_HEADERS,
  SETTINGS,
  VirtualTime,
} from "./testing.ts";
import { visitOf } from "./visit.ts";

freshStorage();
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** What the store hashes with: who reports and who draws hangs on it. */
const KEY = new Uint8Array(32).fill(7);
/** Pages a second at one object: 100 million a month over 96 objects. */
const RATE = 0.4;
const ISOLATES = 4;
/** Between the pages of a visit: lognormal with this mean, ms, and this deviation of the logarithm. */
const PAUSE_MS = 20_000;
const PAUSE_SIGMA = 0.8;
/** That a page takes. */
const PACKETS = 500;
const RTTS_MS = [8, 20, 35, 60, 90, 140, 220];

/** Lets real time pass: calls of objects and hashes take some. */
function tick(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** How many visitors have each loss node (assumed). */
const COMMON_MIX = [0.6, 0.12, 0.1, 0.1, 0.05, 0.03] as const;

/** The loss node of a visitor, of those that are common. @param unit 0 to 1. */
function nodeAt(unit: number): number {
  let node = 0;
  for (let rest = unit; node < COMMON_MIX.length - 1; node++) {
    rest -= COMMON_MIX[node] ?? 0;
    if (rest < 0) break;
  }
  return node;
}

interface Event {
  readonly atMs: number;
  run(): Promise<void>;
}

interface Counts extends Omit<PageCalls, "invocations"> {
  readonly pages: number;
  readonly reports: number;
  readonly policyCalls: number;
  readonly countCalls: number;
}

/** The same, with each call counted. */
function countNearby(nearby: Nearby): { nearby: Nearby; calls: () => number; answered: () => Promise<void> } {
  let calls = 0;
  const underWay = new Set<Promise<unknown>>();
  const call = <T>(answer: Promise<T>): Promise<T> => {
    calls++;
    underWay.add(answer);
    return answer.finally(() => underWay.delete(answer));
  };
  return {
    nearby: {
      find: (...given) => call(nearby.find(...given)),
      keep: (...given) => call(nearby.keep(...given)),
      findRevision: (...given) => call(nearby.findRevision(...given)),
      keepRevision: (...given) => call(nearby.keepRevision(...given)),
    },
    calls: () => calls,
    answered: async () => {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}

/** Visits of Cloudflare's visitors, in virtual time, and what they called for. */
async function visits(count: number, over: object): Promise<Counts> {
  const parsed = parsePolicy({ ...cubic, ...over });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  const draw = numbers(1);
  const time = new VirtualTime();
  vi.stubGlobal("fetch", async () => new Response("<!doctype html><head>", { headers: PAGE_HEADERS }));
  const store = policyStore(bindings);
  await store.create({ policy: parsed.value, author: "test", note: null });
  await store.change({ kind: "put", everyone: 1, stages: [] }, { author: "test", note: null, ifMatch: "*" });
  await runInDurableObject(store, (_, { storage }) => storage.sql.exec("UPDATE hash_key SET bytes = ?", KEY.buffer));
  const { stores, counts, answered } = countCalls(durableStores(bindings));
  const settings = {
    ...readSettings({ EDGE: "cloudflare", OBJECTS_PER_REGION: "1" }).settings,
    budgetMs: 1_000,
  };
  const near = countNearby(cacheNearby(() => caches.open(`visits-${count}`)));
  const isolates = Array.from({ length: ISOLATES }, () => new Isolate(settings, near.nearby));
  const anyIsolate = (): Isolate => isolates[Math.floor(draw() * ISOLATES)] as Isolate;
  const object = pathStore(bindings, pathObject("local", 0));
  const ctx = createExecutionContext();
  const beganMs = Date.now();
  let [pages, reports, rung] = [0, 0, 0];
  const events: Event[] = [];

  for (let visit = 0; visit < count; visit++) {
    const address = `10.${visit >> 8}.${visit & 255}.1`;
    const rttMs = RTTS_MS[visit % RTTS_MS.length];
    const asn = 64_512 + (visit % 20);
    const country = ["JP", "DE", "US"][visit % 3];
    let isOffered = false;
    /** Of its connections so far. Each of its pages adds some. */
    const counted = { TCP: { sent: 0, lost: 0 }, QUIC: { sent: 0, lost: 0 } };
    const lossRatio = LOSS_NODES[nodeAt(draw())] ?? 0;
    let atMs = beganMs + Math.round(((visit + draw()) * PAGES * 1_000) / RATE);
    for (let page = 0; page < PAGES; page++) {
      events.push({ atMs, run: () => load() });
      const normal = Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
      atMs += Math.round(PAUSE_MS * Math.exp(PAUSE_SIGMA * normal - PAUSE_SIGMA ** 2 / 2));
    }
    const headers = { "sec-fetch-dest": "document", "cf-connecting-ip": address };
    const load = async (): Promise<void> => {
      const overH3 = isOffered;
      const cf = {
        asn,
        country,
        colo: "NRT",
        httpProtocol: overH3 ? "HTTP/3" : "HTTP/2",
        [overH3 ? "clientQuicRtt" : "clientTcpRtt"]: rttMs,
      };
      const request = new Request("https://site.test/", { headers, cf: cf as never });
      const response = await handleVisitor(request, new URL(request.url), stores, ctx, anyIsolate());
      pages++;
      isOffered = response.headers.get("alt-svc")?.startsWith("h3=") ?? isOffered;
      const token = /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1];
      if (token !== undefined) report(token, cf, overH3);
    };
    const report = (token: string, cf: object, overH3: boolean): void => {
      const proto = overH3 ? "QUIC" : "TCP";
      const counters = counted[proto];
      counters.sent += PACKETS;
      for (let i = 0; i < PACKETS; i++) if (draw() < lossRatio) counters.lost++;
      const { sent, lost } = counters;
      const l4 = `?proto=${proto}&rtt=40000&min_rtt=38000&sent=${sent}&lost=${lost}&sent_bytes=${sent * 1_400}&delivery_rate=2000000&cid=ab`;
      const times = { connectMs: 0, ttfbMs: 300, loadMs: 900, atMs: 4_000, protocol: overH3 ? "h3" : "h2" } as const;
      const body = JSON.stringify({ ...pageReport(), ...times, token, connections: [{ l4, agoMs: 100 }] });
      const run = async (): Promise<void> => {
        reports++;
        const posted = new Request("https://site.test/_h3/v1/report", {
          method: "POST",
          headers,
          body,
          cf: cf as never,
        });
        await receiveReport(visitOf(posted, new URL(posted.url), stores, ctx, anyIsolate()));
      };
      events.push({ atMs: Date.now() + 5_000, run });
    };
  }

  const ring = async (): Promise<void> => {
    const alarmAtMs = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    if (alarmAtMs === null || alarmAtMs > Date.now()) return;
    rung++;
    await runDurableObjectAlarm(object);
  };
  /** What began ends, and what follows from it. */
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 2; i++) {
      await tick();
      await near.answered();
      await answered();
    }
  };
  while (events.length > 0) {
    const next = Math.min(...events.map(({ atMs }) => atMs));
    while (Date.now() < next) {
      time.advance(Math.min(time.nextMs, next) - Date.now());
      // What an isolate has gathered leaves, and is on its way for a moment.
      await settle();
    }
    await ring();
    for (const event of events.filter(({ atMs }) => atMs <= Date.now())) {
      events.splice(events.indexOf(event), 1);
      await event.run();
      // Else the clock outruns the cache, which counts as no answer.
      await settle();
    }
  }
  const settled = waitOnExecutionContext(ctx);
  // What still waits may wait once more.
  for (let i = 0; i < 10; i++) {
    time.advance(10_000);
    await tick();
    await answered();
    await ring();
  }
  await settled;
  const written = await object.writes();
  const { rows, bytes } = await object.extent();
  for (const { counters } of isolates)
    expect(Object.keys(counters.readBy("reports", "fate")).filter((fate) => fate !== "accepted")).toEqual([]);
  return {
    pages,
    reports,
    lookUps: counts.lookUp,
    records: counts.record,
    alarms: rung,
    rowsWritten: written.rows + written.alarms,
    bytesPerClient: bytes / rows,
    policyCalls: counts.policyBundle,
    countCalls: counts.count,
    subrequests: pages + near.calls() + counts.lookUp + counts.record + counts.policyBundle + counts.count,
  };
}

it.each([
  ["plain", 240, { reports: { share: 0, inject: false } }, 0],
  ["reporting", 960, { exploration: { share: 0.04 }, reports: { share: 0.05, inject: false } }, 0.05],
] as const)(
  "what a page calls for is as the bill has it: %s",
  { timeout: 300_000 },
  async (kind, count, over, share) => {
    const found = await visits(count, over);
    expect(found.pages).toBe(count * PAGES);
    const perPage = (calls: number): number => calls / found.pages;
    const { lookUps, records, alarms, rowsWritten, subrequests, bytesPerClient, invocations } = COUNTED[kind];
    // Who is asked to report fetches the script once in a visit.
    expect(invocations).toBeCloseTo(1 + share + share / PAGES, 2);
    for (const [name, all, billed] of [
      ["look-ups", found.lookUps, lookUps],
      ["records", found.records, records],
      ["alarms", found.alarms, alarms],
      ["rows written", found.rowsWritten, rowsWritten],
      ["subrequests", found.subrequests, subrequests],
    ] as const) {
      expect(perPage(all), name).toBeLessThanOrEqual(billed);
      // A bill that is too high is not true either. It is rounded up, and how fast calls are answered changes a few of them.
      expect(perPage(all), name).toBeGreaterThan(billed - Math.max(0.02, billed / 10));
    }
    expect(found.bytesPerClient).toBeLessThanOrEqual(bytesPerClient);
    expect(found.bytesPerClient).toBeGreaterThan(bytesPerClient / 2);
    // The isolates of one data centre ask together what is in force, but for their first questions. Each sends its own counts.
    expect(perPage(found.policyCalls - ISOLATES)).toBeLessThanOrEqual(1.1 * policyCallsAPage(RATE));
    expect(perPage(found.countCalls)).toBeLessThanOrEqual(1.1 * countCallsAPage(RATE / ISOLATES));
  },
);

/** Pages at isolates that have just begun: every call takes so long, and so does the origin. How many are decided late. */
async function late(originMs: number, callMs: number, over: Partial<Settings>): Promise<number> {
  const time = new VirtualTime();
  const wait = (ms: number): Promise<void> => scheduler.wait(ms);
  vi.stubGlobal("fetch", async () => {
    await wait(originMs);
    return new Response("page", { headers: PAGE_HEADERS });
  });
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const answering = new FakeStores(adaptivePolicy());
  const stores: Stores = {
    lookUp: async (client) => wait(callMs).then(() => answering.lookUp(client)),
    record: async (object, reports) => answering.record(object, reports),
    count: async (region, delta) => answering.count(region, delta),
    policyBundle: async (revision) => wait(callMs).then(() => answering.policyBundle(revision)),
    storeKill: async (kill) => answering.storeKill(kill),
  };
  const ctx = createExecutionContext();
  const settings = { ...SETTINGS, logDecisions: true, budgetMs: 5, ...over };
  const pages = Array.from({ length: 20 }, async (_, i) => {
    const request = navigation(CF_H2, { "cf-connecting-ip": `192.0.2.${i}` });
    return handleVisitor(request, new URL(request.url), stores, ctx, new Isolate(settings));
  });
  for (let ms = 0; ms <= originMs + 2 * callMs + 100; ms += 10) {
    time.advance(10);
    // Hashes take a moment of real time.
    await tick(2);
  }
  await Promise.all(pages);
  await waitOnExecutionContext(ctx);
  const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as { history: { state: string } });
  // Without a policy nothing is decided.
  return 1 - lines.filter(({ history }) => history.state !== "late").length / pages.length;
}

it.each([
  ["one after the other without CLIENT_KEY: too late for an origin of 150 ms", 150, {}, 1],
  ["at the same time with it: in time", 150, { clientKey: new Uint8Array(32).fill(9).buffer }, 0],
  [
    "at the same time with it: too late for an origin of 20 ms",
    20,
    { clientKey: new Uint8Array(32).fill(9).buffer },
    1,
  ],
])("the policy and the client are asked for %s", async (_name, originMs, over, expected) => {
  expect(await late(originMs, 100, over)).toBe(expected);
});
