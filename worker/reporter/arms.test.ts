import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientReport } from "../../durable/client-report.ts";
import { ASSIGNMENT_MS, periodAt } from "../../policy-api/decision/assignment.ts";
import type { TablePlace } from "../../policy-api/decision/gain-table.ts";
import type { Remembered } from "../../policy-api/decision/history.ts";
import { addSample } from "../../policy-api/decision/connections.ts";
import { NO_OFFER } from "../../policy-api/decision/offers.ts";
import type { Arm, AskedPage, PagePosition } from "../../policy-api/visitors/page-outcome.ts";
import type { GainsMethod, Policy } from "../../policy-api/decision/policy.ts";
import { adaptivePolicy, flatTable, HOUR_MS, offersHeld, sample } from "../../policy-api/decision/testing.ts";
import { VISIT_GAP_MS } from "../../policy-api/decision/visit.ts";
import { Hasher } from "../hasher.ts";
import { Isolate } from "../isolate.ts";
import { ReportBuffer } from "../report-buffer.ts";
import {
  CF_H2,
  fails,
  FakeStores,
  HASH_KEY,
  inForce,
  mode,
  navigation,
  never,
  PAGE_HEADERS,
  SETTINGS,
  stubOrigin,
  visit,
} from "../testing.ts";
import { readToken } from "./token.ts";

const origin = stubOrigin();
const hasher = new Hasher(HASH_KEY);
const ADDRESS = { client: "192.0.2.7", network: "192.0.2.0/24" };
const { keys: KEYS, object: NUMBER } = hasher.named(ADDRESS, SETTINGS.objectsPerRegion);
const OBJECT = `local:${NUMBER}`;
const PERIOD = 10_000;
const NOW_MS = PERIOD * ASSIGNMENT_MS + 5 * HOUR_MS;

/** A share of clients draws, and the pages of all are asked. */
const drawing = (share = 1, over: Partial<Policy> = {}): Policy =>
  adaptivePolicy({ exploration: { share }, reports: { share: 1, inject: false }, ...over });

/** What our client draws where everyone does. */
const armIn = async (period: number): Promise<Arm> =>
  hasher.unit("exploration", ADDRESS, period) < 0.5 ? "offer" : "withhold";

/** The first period in which something holds for our client. */
async function periodWhere(holds: (period: number) => Promise<boolean>): Promise<number> {
  let period = PERIOD;
  while (!(await holds(period))) period++;
  return period;
}

const page = async (): Promise<Response> => new Response("page", { headers: PAGE_HEADERS });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOW_MS });
  origin.answer = page;
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const roomy = (): Isolate => new Isolate({ ...SETTINGS, budgetMs: 1000 });

/** What a page can read in its Server-Timing. */
async function askedIn(response: Response): Promise<AskedPage | undefined> {
  const token = /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1];
  const read = token === undefined ? undefined : readToken(token, KEYS.client, hasher);
  return read && { ...read.decision, nonce: read.nonce };
}

async function load(stores: FakeStores, isolate = roomy(), request = navigation()): Promise<AskedPage | undefined> {
  return askedIn((await visit(request, stores, isolate)).response);
}

/** One visit to its end: what its page was asked, and what the store was told. */
async function visited(
  stores: FakeStores,
  request = navigation(),
): Promise<{ response: Response; asked: AskedPage | undefined; reports: readonly ClientReport[] }> {
  const { response, settled } = await visit(request, stores, roomy());
  await settled;
  return { response, asked: await askedIn(response), reports: stores.records.flat() };
}

const decidedIn = (reports: readonly ClientReport[]): readonly AskedPage[] =>
  reports.flatMap(({ decided }) => decided ?? []);

/** The origin answers when the look-up is over, and after `first`. */
function afterLookUp(first: () => void): void {
  origin.answer = async () => {
    for (let i = 0; i < 20; i++) await scheduler.wait(1);
    first();
    return page();
  };
}

describe("a client's arm", () => {
  it("is one and the same over a period, and drawn anew for the next", async () => {
    const arms = new Set<string>();
    for (let period = PERIOD; period < PERIOD + 12; period++) {
      const drawn = new Set<string>();
      for (const ms of [0, 1, HOUR_MS, ASSIGNMENT_MS / 2, ASSIGNMENT_MS - 1]) {
        vi.setSystemTime(period * ASSIGNMENT_MS + ms);
        const decision = await load(new FakeStores(drawing()));
        expect(decision?.period).toBe(period);
        drawn.add(`${decision?.arm} ${decision?.advertised} ${decision?.propensity.toFixed(2)}`);
      }
      expect([...drawn], String(period)).toHaveLength(1);
      for (const one of drawn) arms.add(one);
    }
    expect([...arms].toSorted()).toEqual(["offer h3 0.50", "withhold nothing 0.50"]);
  });

  it("is the policy's where nobody draws, or the client is not among those that do", async () => {
    expect(await load(new FakeStores(drawing(0)))).toMatchObject({
      arm: "policy",
      advertised: "nothing",
      propensity: 1,
    });
    const unit = hasher.unit("exploration", ADDRESS, PERIOD);
    // The share from which on it draws.
    const share = 2 * Math.min(unit, 1 - unit);
    expect((await load(new FakeStores(drawing(share * 0.99))))?.arm).toBe("policy");
    expect((await load(new FakeStores(drawing(share * 1.01))))?.arm).toBe(await armIn(PERIOD));
  });

  it("lets it hold an offer for as long as the policy at most", async () => {
    vi.setSystemTime(ASSIGNMENT_MS * (await periodWhere(async (period) => (await armIn(period)) === "offer")));
    const { response } = await visited(new FakeStores(drawing()));
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=100');
  });

  it("stays the drawn one where its offers pause, as mostly clients that were offered come to that", async () => {
    vi.setSystemTime(ASSIGNMENT_MS * (await periodWhere(async (period) => (await armIn(period)) === "offer")));
    const stores = new FakeStores(drawing());
    const ignoredAtMs = [3, 2, 1].map((seconds) => Date.now() - 1_000 * seconds);
    stores.reply = async () => ({ offers: { ...NO_OFFER, ignoredAtMs } });
    expect(await load(stores)).toMatchObject({ arm: "offer", advertised: "nothing" });
  });

  it("takes back what it may hold, where it is withheld", async () => {
    vi.setSystemTime(ASSIGNMENT_MS * (await periodWhere(async (period) => (await armIn(period)) === "withhold")));
    const stores = new FakeStores(drawing());
    const offers = offersHeld({ untilMs: Date.now() + 1, answeredAtMs: Date.now() - HOUR_MS, offering: true });
    stores.reply = async () => ({ offers });
    expect(await load(stores)).toMatchObject({ arm: "withhold", advertised: "clear" });
  });

  it.each<[string, (stores: FakeStores, next: () => void) => void]>([
    [
      "the look-up",
      (stores, next) => {
        stores.reply = async () => {
          next();
          return {};
        };
      },
    ],
    [
      "the policy's renewal",
      (stores, next) => {
        const renew = stores.policyBundle.bind(stores);
        stores.policyBundle = async (revision) => {
          next();
          return renew(revision);
        };
      },
    ],
    ["the origin's work", (_stores, next) => afterLookUp(next)],
  ])("and its period are of one draw, if the next period begins during %s", async (_name, during) => {
    const period = await periodWhere(async (one) => (await armIn(one)) !== (await armIn(one + 1)));
    const endMs = (period + 1) * ASSIGNMENT_MS;
    vi.setSystemTime(endMs - 1);
    const stores = new FakeStores(drawing());
    during(stores, () => vi.setSystemTime(endMs));
    expect(await load(stores)).toMatchObject({ arm: await armIn(period), period });
    expect(periodAt(Date.now())).toBe(period + 1);
  });
});

describe("the store is told of an asked page of a drawn arm", () => {
  const connection = (msAgo: number): Remembered => ({
    client: { connections: addSample([], sample({ atMs: NOW_MS - msAgo })) },
  });
  const decided = (msAgo: number, period = PERIOD): Remembered => ({ decided: { period, atMs: NOW_MS - msAgo } });

  it.each<[PagePosition, string, Remembered]>([
    ["new", "nobody knows the client", {}],
    ["redrawn", "it was here in the period before, and there was no page in this one", connection(6 * HOUR_MS)],
    ["next", "it was here in this period, and was not asked", connection(60_000)],
    ["redrawn", "its last page was of the period before", decided(6 * HOUR_MS, PERIOD - 1)],
    ["next", "it had a page a minute ago", decided(60_000)],
    ["next", "it had a page long ago, and is here", { ...decided(4 * HOUR_MS), ...connection(60_000) }],
    ["return", "it had a page in an earlier visit", decided(VISIT_GAP_MS)],
  ])("%s: %s", async (position, _name, remembered) => {
    const stores = new FakeStores(drawing());
    stores.reply = async () => remembered;
    const { asked, reports } = await visited(stores);
    expect(asked).toMatchObject({ position, period: PERIOD, arm: await armIn(PERIOD), atMs: NOW_MS });
    // It is one RPC, with the answer.
    expect(reports).toMatchObject([{ client: KEYS.client, decided: [{ place: { rtt: 0, size: 0 } }] }]);
    const { propensity, ...exact } = asked ?? { propensity: undefined };
    expect(decidedIn(reports)).toEqual([{ ...exact, propensity: expect.closeTo(propensity ?? 0, 4) }]);
  });

  it.each([
    ["redrawn", 1],
    ["next", -1],
  ])("%s: it was here, and what is in force was activated %d ms later", async (position, ms) => {
    const stores = new FakeStores(drawing());
    const sinceMs = NOW_MS - 60_000 + ms;
    stores.bundle = { inForce: inForce(drawing(), { sinceMs }), hashKey: HASH_KEY };
    stores.reply = async () => connection(60_000);
    expect((await visited(stores)).asked?.position).toBe(position);
  });

  it("by where it stood when it came, however long the origin works", async () => {
    const stores = new FakeStores(drawing());
    stores.reply = async () => decided(VISIT_GAP_MS - 1);
    afterLookUp(() => vi.setSystemTime(NOW_MS + 60_000));
    expect((await load(stores))?.position).toBe("next");
  });

  it("and knows it before its next page, also if the store does not have it yet", async () => {
    const stores = new FakeStores(drawing());
    stores.taken = never;
    const isolate = roomy();
    const positions: (string | undefined)[] = [];
    for (const msLater of [0, 1_000, 2_000, 2_000 + VISIT_GAP_MS]) {
      vi.setSystemTime(NOW_MS + msLater);
      positions.push((await load(stores, isolate))?.position);
    }
    expect(positions).toEqual(["new", "next", "next", "return"]);
    vi.setSystemTime(NOW_MS + ASSIGNMENT_MS);
    expect((await load(stores, isolate))?.position).toBe("redrawn");
    expect((await load(stores, isolate))?.position).toBe("next");
  });

  it("once for each, and it asks no page that it could not tell of", async () => {
    const stores = new FakeStores(drawing());
    // All stays in this isolate.
    stores.taken = never;
    const isolate = roomy();
    const told = () => isolate.reports.pending(OBJECT, KEYS.client).decided.length;
    await load(stores, isolate);
    const inFlight = told();
    expect(inFlight).toBe(1);
    for (let i = 1; i <= 8; i++) {
      expect(await load(stores, isolate)).toBeDefined();
      expect(told()).toBe(inFlight + i);
    }
    const { response } = await visit(navigation(), stores, isolate);
    expect(await askedIn(response)).toBeUndefined();
    expect(await response.text()).toBe("page");
    expect(told()).toBe(inFlight + 8);
    expect(isolate.counters.readBy("news_dropped", "cause")).toEqual({ "asked-page": 1 });
  });

  it.each<[string, Policy, Parameters<typeof navigation>, (stores: FakeStores) => void]>([
    ["of the policy's arm, which is asked", drawing(0), [], () => undefined],
    [
      "of the same in another mode",
      { ...mode("fixed-h3"), exploration: { share: 1 }, reports: { share: 1, inject: false } },
      [],
      () => undefined,
    ],
    [
      "of an unknown place, which is asked",
      drawing(),
      [],
      (stores) => {
        stores.reply = async () => undefined as never;
      },
    ],
  ])("but not %s", async (_name, policy, request, prepare) => {
    const stores = new FakeStores(policy);
    prepare(stores);
    const { asked, reports } = await visited(stores, navigation(...request));
    expect(asked).toBeDefined();
    expect(decidedIn(reports)).toEqual([]);
  });

  it.each<[string, Policy, Record<string, string>, (stores: FakeStores) => void]>([
    ["no client is asked", drawing(1, { reports: { share: 0, inject: false } }), {}, () => undefined],
    ["its visitor does not want it", drawing(), { "sec-gpc": "1" }, () => undefined],
    ["its visitor saves data", drawing(), { "save-data": "on" }, () => undefined],
    ["it is fetched ahead of time", drawing(), { "sec-purpose": "prefetch" }, () => undefined],
    [
      "it is an error",
      drawing(),
      {},
      () => {
        origin.answer = async () => new Response("oh", { status: 500, headers: PAGE_HEADERS });
      },
    ],
    [
      "its look-up fails",
      drawing(),
      {},
      (stores) => {
        stores.reply = fails;
      },
    ],
    [
      "the kill switch is on",
      drawing(),
      {},
      (stores) => {
        stores.bundle = { inForce: inForce(drawing(), { killSwitch: "fixed-h2" }), hashKey: HASH_KEY };
      },
    ],
  ])("nor of a page that has no token: %s", async (_name, policy, headers, prepare) => {
    const stores = new FakeStores(policy);
    prepare(stores);
    const { response, reports } = await visited(stores, navigation(CF_H2, headers));
    expect(response.headers.get("server-timing")).toBeNull();
    expect(decidedIn(reports)).toEqual([]);
  });

  it("nor of one whose look-up is late", async () => {
    const stores = new FakeStores(drawing());
    stores.reply = never;
    const isolate = new Isolate(SETTINGS);
    expect(await load(stores, isolate)).toBeUndefined();
    expect(decidedIn(stores.records.flat())).toEqual([]);
    expect(isolate.reports.pending(OBJECT, KEYS.client).decided).toEqual([]);
  });

  it.each<[string, (stores: FakeStores) => void]>([
    [
      "the store refuses",
      (stores) => {
        stores.taken = fails;
      },
    ],
    [
      "the buffer is at fault",
      () =>
        vi.spyOn(ReportBuffer.prototype, "add").mockImplementation(() => {
          throw new Error("fault");
        }),
    ],
  ])("and the visitor gets the same where %s", async (_name, prepare) => {
    const well = await visited(new FakeStores(drawing()));
    const stores = new FakeStores(drawing());
    prepare(stores);
    const { response, asked } = await visited(stores);
    expect([response.status, response.headers.get("alt-svc"), await response.text()]).toEqual([
      200,
      well.response.headers.get("alt-svc"),
      "page",
    ]);
    expect(asked).toEqual({ ...well.asked, nonce: expect.any(String) });
  });
});

describe("a page's place in the gain table", () => {
  const [RTT_MS, LOSSES, SIZES] = [
    [10, 100],
    [0, 0.05],
    [100_000, 1_000_000],
  ];
  const figures = (value: number) => SIZES.map(() => LOSSES.map(() => RTT_MS.map(() => value)));
  const gains = { gain: figures(0.1), se: figures(0.01) };
  const table = flatTable(0, 0, {
    rttMs: RTT_MS,
    lossRatio: LOSSES,
    contentBytes: SIZES,
    next: gains,
    return: gains,
    price: [0, 0],
    priceSe: [0.01, 0.01],
  });
  const method: GainsMethod = { kind: "gains", table, mix: [0.95, 0.05] };
  const sized = (bytes: number): Policy => drawing(1, { method, contentBytes: { default: bytes, routes: [] } });
  const cf = (rttMs: number | undefined, counters: object = {}) => ({
    httpProtocol: "HTTP/2",
    clientTcpRtt: rttMs,
    adaptiveH3: { connectionId: "c1", transport: "tcp", ...counters },
  });
  const lost = (packetsLost: number) => ({ packetsSent: 5_000, packetsLost });

  it.each<[string, Policy, object, TablePlace | undefined]>([
    ["where nobody counted packets", sized(1_000_000), cf(12), { rtt: 0, size: 1 }],
    [
      "where few packets were counted",
      sized(1_000_000),
      cf(12, { packetsSent: 400, packetsLost: 0 }),
      { rtt: 0, size: 1 },
    ],
    ["of a small page on a long path", sized(50_000), cf(200), { rtt: 1, size: 0 }],
    ["of a client that loses nothing", sized(1_000_000), cf(12, lost(0)), { rtt: 0, size: 1, loss: 0 }],
    ["of one that does", sized(1_000_000), cf(12, lost(250)), { rtt: 0, size: 1, loss: 1 }],
    ["without an RTT", sized(1_000_000), cf(undefined), undefined],
    ["without a table", drawing(1, { method: { kind: "rtt-threshold", rttMs: 10 } }), cf(12), undefined],
    ["where another mode decides", { ...sized(1_000_000), mode: "observe" }, cf(12, lost(250)), { rtt: 0, size: 1 }],
  ])("%s", async (_name, policy, connection, place) => {
    const asked = await load(new FakeStores(policy), roomy(), navigation(connection));
    expect(asked).toBeDefined();
    expect(asked?.place).toEqual(place);
  });

  it("is by the RTT that decides; the page itself has the smallest one, which no first byte beats", async () => {
    const connection = cf(60, { firstRttMs: 200, minRttMs: 12 });
    const asked = await load(new FakeStores(sized(1_000_000)), roomy(), navigation(connection));
    expect(asked).toMatchObject({ place: { rtt: 1, size: 1 }, rttMs: 12 });
  });

  it.each([
    ["stays where the loss moves within it", 1, 0],
    ["is another one if the loss moves there", 400, 1],
  ])("while the origin works, %s: the store and the page get the same", async (_name, packetsLost, loss) => {
    const isolate = roomy();
    const stores = new FakeStores(sized(1_000_000));
    afterLookUp(() => {
      const news = sample({ connectionId: "c2", atMs: Date.now(), rttMs: 12, packetsSent: 5_000, packetsLost });
      isolate.reports.add(OBJECT, KEYS, { sample: news }, Date.now());
    });
    const { response, settled } = await visit(navigation(cf(12, lost(0))), stores, isolate);
    await settled;
    const asked = await askedIn(response);
    expect(asked?.place).toEqual({ rtt: 0, size: 1, loss });
    const { propensity: _, ...exact } = asked ?? { propensity: undefined };
    expect(decidedIn(stores.records.flat())).toMatchObject([exact]);
  });
});
