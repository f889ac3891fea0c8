import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it, vi } from "vitest";
import { periodAt } from "../../policy-api/decision/assignment.ts";
import type { PageDecision } from "../../policy-api/visitors/page-outcome.ts";
import { pageDecision, pageReport } from "../../policy-api/visitors/testing-pages.ts";
import { Hasher } from "../hasher.ts";
import { Isolate } from "../isolate.ts";
import { CF_H2, fails, FakeStores, HASH_KEY, mode, SETTINGS, withoutGathering } from "../testing.ts";
import { visitOf } from "../visit.ts";
import { receiveReport } from "./report-endpoint.ts";
import { writeToken } from "./token.ts";

withoutGathering();

const URL_OF_REPORTS = "https://site.test/_h3/v1/report";
const CLOUDFLARE = {
  httpProtocol: "HTTP/2",
  clientTcpRtt: 44,
  edgeL4: { deliveryRate: 3_000_000 },
  colo: "NRT",
  asn: 64_500,
};
const L4 = "?proto=TCP&rtt=40000&min_rtt=38000&sent=500&lost=25&sent_bytes=700000&delivery_rate=2000000&cid=ab12";
const hasher = new Hasher(HASH_KEY);
const ADDRESS = { client: "192.0.2.7", network: "192.0.2.0/24" };
const { keys, object: NUMBER } = hasher.named(ADDRESS, SETTINGS.objectsPerRegion);
const { client: CLIENT } = keys;

const tokenOf = (over: Partial<PageDecision> = {}): string => {
  const atMs = over.atMs ?? Date.now() - 5_300;
  return writeToken(pageDecision({ period: periodAt(atMs), ...over, atMs }), CLIENT, hasher);
};

interface Sent {
  readonly body?: string;
  readonly report?: object;
  readonly headers?: Record<string, string>;
  readonly cf?: object;
  readonly edge?: (typeof SETTINGS)["edge"];
  readonly stores?: FakeStores;
  readonly method?: string;
  readonly points?: AnalyticsEngineDataset;
}

async function send({ body, report = {}, headers = {}, cf = CLOUDFLARE, edge = "cloudflare", ...rest }: Sent) {
  const { stores = new FakeStores(mode("observe")), method = "POST", points } = rest;
  const isolate = new Isolate({ ...SETTINGS, edge });
  const ctx = createExecutionContext();
  const text = body ?? JSON.stringify({ ...pageReport(), token: tokenOf(), ...report });
  const request = new Request(URL_OF_REPORTS, {
    method,
    headers: { "cf-connecting-ip": "192.0.2.7", ...headers },
    ...(method === "GET" ? {} : { body: text }),
    cf: cf as never,
  });
  const { status } = await receiveReport(visitOf(request, new URL(request.url), stores, ctx, isolate), points);
  await waitOnExecutionContext(ctx);
  return { status, fates: isolate.counters.readBy("reports", "fate"), stores, isolate };
}

it.each([
  ["accepted", {}],
  ["malformed", { body: "{}" }],
  ["oversized", { body: "x".repeat(5_000) }],
])("what became of a report is told without a page that comes after it: %s", async (fate, sent) => {
  const { stores } = await send(sent);
  expect(stores.flushed.map(({ counted }) => counted)).toEqual([{ [`reports|${fate}`]: 1 }]);
});

describe("a report that counts", () => {
  it("goes to the client's object: what was decided, how long it took, and what its connections showed", async () => {
    const connections = [{ l4: L4, agoMs: 1_000 }];
    const files = [{ protocol: "h2", count: 9, bytes: 600_000 }];
    const { status, fates, stores } = await send({ report: { connections, files, lcpMs: 350 } });
    expect([status, fates]).toEqual([204, { accepted: 1 }]);
    const [report] = stores.records[0] ?? [];
    expect(report).toMatchObject({
      client: CLIENT,
      asn: 64_500,
      // The report's own reading of the RTT. Whether its rate says anything, it does not know by itself.
      samples: [{ transport: "tcp", connectionId: "-", rttMs: 44, deliveryRateBps: undefined }],
      pages: [
        {
          nonce: expect.stringMatching(/^[\w-]{8}$/),
          outcome: {
            policyVersion: 3,
            arm: "policy",
            loadMs: 400,
            lcpMs: 350,
            tcpBytes: 600_000,
            rttAfterMs: 44,
            rateAfterBps: 3e6,
          },
          samples: [
            {
              connectionId: "page:ab12",
              packetsSent: 500,
              packetsLost: 25,
              bytesSent: 700_000,
              rttMs: 40,
              deliveryRateBps: 3e6,
            },
          ],
        },
      ],
    });
    expect(JSON.stringify(stores.records)).not.toContain("192.0.2");
  });

  it("also of a page without counters, and of one that was left", async () => {
    const { fates, stores } = await send({ report: { loadMs: undefined, atMs: 900 } });
    expect(fates).toEqual({ accepted: 1 });
    expect(stores.records[0]?.[0]?.pages).toMatchObject([{ outcome: { leftMs: 900 }, samples: [] }]);
  });

  it("counts for the client's next page before the object has it", async () => {
    const stores = new FakeStores(mode("observe"));
    stores.taken = fails;
    const { isolate } = await send({ report: { connections: [{ l4: L4, agoMs: 1_000 }] }, stores });
    const names = isolate.reports.pending(`local:${NUMBER}`, CLIENT).samples.map(({ connectionId }) => connectionId);
    expect(names).toEqual(["-", "page:ab12"]);
  });

  it("says nothing of packets where the edge itself posts what a connection counts", async () => {
    const { fates, stores } = await send({
      report: { connections: [{ l4: L4, agoMs: 1_000 }] },
      edge: "adaptive-h3",
      cf: CF_H2,
    });
    expect(fates).toEqual({ accepted: 1 });
    expect(stores.records[0]?.[0]).toMatchObject({ samples: [], pages: [{ outcome: { loadMs: 400 }, samples: [] }] });
  });
});

describe("a report that does not count is counted by its cause, and the answer is the same", () => {
  it.each<[string, string, Sent | (() => Promise<Sent>)]>([
    ["malformed", "no JSON", { body: "{" }],
    ["malformed", "nothing", { body: "" }],
    ["malformed", "no report", { body: "[]" }],
    ["malformed", "an unknown field", { report: { url: "https://site.test/" } }],
    ["absurd", "a load before its first byte", { report: { ttfbMs: 500, loadMs: 400 } }],
    [
      "absurd",
      "more packets lost than sent",
      { report: { connections: [{ l4: L4.replace("sent=500", "sent=5"), agoMs: 1 }] } },
    ],
    ["absurd", "another protocol than the server knows", { report: { protocol: "h3" } }],
    ["absurd", "more time in the page than has passed", { report: { loadMs: 60_000, atMs: 65_000 } }],
    ["absurd", "a first byte sooner than light", { report: { connectMs: 0, ttfbMs: 1 } }],
    ["unsigned", "a token that nobody wrote", { report: { token: "A".repeat(64) } }],
    ["unsigned", "a client at another address", { headers: { "cf-connecting-ip": "192.0.2.8" } }],
    [
      "late",
      "an hour and a second after the decision",
      async () => ({ report: { token: tokenOf({ atMs: Date.now() - 3_601_000 }) } }),
    ],
    ["late", "before the decision", async () => ({ report: { token: tokenOf({ atMs: Date.now() + 60_000 }) } })],
    ["cross-site", "from another site's page", { headers: { "sec-fetch-site": "cross-site" } }],
    ["cross-site", "from a neighbour's page", { headers: { "sec-fetch-site": "same-site" } }],
    ["unready", "an address that cannot be believed", { edge: "none" }],
  ])("%s: %s", async (fate, _name, given) => {
    const { status, fates, stores } = await send(typeof given === "function" ? await given() : given);
    expect([status, fates]).toEqual([204, { [fate]: 1 }]);
    expect(stores.records).toEqual([]);
  });

  it("unready: the store has not answered yet", async () => {
    const stores = new FakeStores(undefined);
    stores.bundle = new Error("gone");
    expect((await send({ stores })).fates).toEqual({ unready: 1 });
  });

  it.each([
    ["told ahead", { "content-length": "5000" }],
    ["not told", {}],
  ])("oversized, and not read to its end: %s", async (_name, headers) => {
    const { status, fates, stores } = await send({ body: "x".repeat(4_097), headers });
    expect([status, fates]).toEqual([413, { oversized: 1 }]);
    expect(stores.records).toEqual([]);
  });

  it("as large as allowed is only malformed", async () => {
    expect((await send({ body: "x".repeat(4_096) })).fates).toEqual({ malformed: 1 });
  });

  it("broken: the visitor left while it was sent", async () => {
    const isolate = new Isolate(SETTINGS);
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("gone")) });
    const request = new Request(URL_OF_REPORTS, { method: "POST", body });
    const { status } = await receiveReport(
      visitOf(request, new URL(request.url), new FakeStores(mode("observe")), createExecutionContext(), isolate),
    );
    expect([status, isolate.counters.readBy("reports", "fate")]).toEqual([400, { broken: 1 }]);
  });

  it("crowded: more than wait for the object of one client", async () => {
    const isolate = new Isolate({ ...SETTINGS, edge: "cloudflare" });
    // What is gathered waits for others.
    vi.stubGlobal("scheduler", { wait: async () => new Promise(() => undefined) });
    const stores = new FakeStores(mode("observe"));
    const ctx = createExecutionContext();
    for (let i = 0; i < 7; i++) {
      const request = new Request(URL_OF_REPORTS, {
        method: "POST",
        headers: { "cf-connecting-ip": "192.0.2.7" },
        body: JSON.stringify({ ...pageReport(), token: tokenOf() }),
        cf: CLOUDFLARE as never,
      });
      await receiveReport(visitOf(request, new URL(request.url), stores, ctx, isolate));
      const total = () =>
        Object.values(isolate.counters.readBy("reports", "fate")).reduce((sum, count) => sum + count, 0);
      await vi.waitFor(() => expect(total()).toBe(i + 1));
    }
    expect(isolate.counters.readBy("reports", "fate")).toEqual({ accepted: 4, crowded: 3 });
  });

  it("replayed and crowded: what the object says of those that passed here", async () => {
    const stores = new FakeStores(mode("observe"));
    stores.record = async () => ({ replayed: 1, crowded: 2 });
    expect((await send({ stores })).fates).toEqual({ accepted: 1, replayed: 1, crowded: 2 });
  });
});

it.each(["GET", "PUT", "DELETE", "OPTIONS"])("%s is not for reports", async (method) => {
  const { status, fates } = await send({ method });
  expect([status, fates]).toEqual([405, {}]);
});

describe("a data point in Analytics Engine", () => {
  const dataset = (written: AnalyticsEngineDataPoint[]): AnalyticsEngineDataset => ({
    writeDataPoint: (point) => void written.push(point ?? {}),
  });

  it("has the columns of docs/measure-visitors.md, and neither client nor address", async () => {
    const written: AnalyticsEngineDataPoint[] = [];
    const files = [
      { protocol: "h3", count: 9, bytes: 600_000 },
      { protocol: "h2", count: 1, bytes: 20_000 },
    ];
    await send({ report: { files, lcpMs: 350 }, points: dataset(written) });
    expect(written).toEqual([
      {
        indexes: ["policy"],
        blobs: ["policy", "h3", "new", "tcp", "3", "64500"],
        doubles: [1, 400, -1, 350, 130, 80, 40, 1e6, 600_000, 20_000, 44, 3e6, -1, -1, -1],
      },
    ]);
    expect(JSON.stringify(written)).not.toContain(CLIENT);
  });

  it("is not written of a report that does not count", async () => {
    const written: AnalyticsEngineDataPoint[] = [];
    const { fates } = await send({ body: "{", points: dataset(written) });
    expect([fates, written]).toEqual([{ malformed: 1 }, []]);
  });

  it("that is refused does not harm the report", async () => {
    const points: AnalyticsEngineDataset = {
      writeDataPoint: () => {
        throw new Error("too many");
      },
    };
    const { fates, stores } = await send({ points });
    expect([fates, stores.records.length]).toEqual([{ accepted: 1 }, 1]);
  });
});
