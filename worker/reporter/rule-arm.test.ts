import { createExecutionContext, runDurableObjectAlarm, waitOnExecutionContext } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { bindings, freshStorage } from "../../durable/testing.ts";
import type { ClientReport } from "../../durable/client-report.ts";
import { drawnArm } from "../../policy-api/decision/decide.ts";
import type { Remembered } from "../../policy-api/decision/history.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { adaptivePolicy } from "../../policy-api/decision/testing.ts";
import { Gathered, type OutcomeRow } from "../../policy-api/visitors/gathered.ts";
import { resultsOf } from "../../policy-api/visitors/results.ts";
import { numbers } from "../../policy-api/visitors/testing.ts";
import { pageReport } from "../../policy-api/visitors/testing-pages.ts";
import { Isolate } from "../isolate.ts";
import { FakeStores, fails, HASH_KEY, inForce, SETTINGS, withoutGathering } from "../testing.ts";
import { visitOf } from "../visit.ts";
import { receiveReport } from "./report-endpoint.ts";

withoutGathering();
freshStorage();

const HOST = "www.example.com";
/** What the rules were compiled of, and what is in force. */
const DRAWING = adaptivePolicy({ exploration: { share: 0.1 }, reports: { share: 1, inject: false } });
const storesOf = (policy: Policy = DRAWING): FakeStores => {
  const stores = new FakeStores(policy);
  stores.bundle = { inForce: inForce(policy, { everyone: { version: 1, policy } }), hashKey: HASH_KEY };
  return stores;
};
const { token: _token, ...REPORT } = pageReport();

interface Sent {
  readonly arm?: string;
  readonly report?: object;
  readonly host?: string;
  readonly ruleArms?: string | undefined;
  readonly stores?: FakeStores;
  readonly address?: string;
  readonly cf?: object;
}

async function send({ arm, report = {}, host = HOST, stores = storesOf(), address = "192.0.2.7", ...rest }: Sent) {
  const { cf = { httpProtocol: "HTTP/2", clientTcpRtt: 44, colo: "NRT", asn: 64_500 } } = rest;
  const isolate = new Isolate({ ...SETTINGS, edge: "cloudflare", ruleArms: "ruleArms" in rest ? rest.ruleArms : HOST });
  const ctx = createExecutionContext();
  const request = new Request(`https://${host}/_h3/v1/report`, {
    method: "POST",
    headers: { "cf-connecting-ip": address, ...(arm === undefined ? {} : { "h3-arm": arm }) },
    body: JSON.stringify({ ...REPORT, ...report }),
    cf: cf as never,
  });
  const { status } = await receiveReport(visitOf(request, new URL(request.url), stores, ctx, isolate));
  await waitOnExecutionContext(ctx);
  const [told] = stores.records.flat();
  return { status, fates: isolate.counters.readBy("reports", "fate"), stores, told, page: told?.pages?.[0] };
}

it.each([
  ["offer", "h3", 0.05],
  // So would the policy answer, too.
  ["withhold", "clear", 0.95],
])(
  "a report whose request a rule gave the arm %s counts in it, as one that was answered %s",
  async (arm, advertised, propensity) => {
    const { status, fates, page, told } = await send({ arm });
    expect([status, fates]).toEqual([204, { accepted: 1 }]);
    // With the page itself, which goes to the store at once, as where the next page stands depends on it.
    expect(told?.decided).toMatchObject([{ nonce: page?.nonce, arm, advertised, position: "new" }]);
    expect(page).toMatchObject({
      nonce: expect.stringMatching(/^[\w-]{8}$/),
      outcome: {
        arm,
        advertised,
        policyVersion: 1,
        revision: 3,
        position: "new",
        rttMs: 44,
        transport: "tcp",
        loadMs: 400,
      },
    });
    expect(page?.outcome.propensity).toBeCloseTo(propensity, 4);
  },
);

it("over HTTP/3, and soon after a first byte that a full queue would have made late", async () => {
  const { page } = await send({ arm: "offer", report: { protocol: "h3", ttfbMs: 5, connectMs: 0 } });
  expect(page?.outcome).toMatchObject({ transport: "quic", ttfbMs: 5 });
});

it.each<[position: string, remembered: Remembered]>([
  ["new", {}],
  ["next", { decided: { period: periodNow(), atMs: Date.now() - 60_000 } }],
  ["return", { decided: { period: periodNow(), atMs: Date.now() - 7_200_000 } }],
])("%s is what the client's earlier reports make of its page", async (position, remembered) => {
  const stores = storesOf();
  stores.reply = async () => remembered;
  expect((await send({ arm: "offer", stores })).page?.outcome.position).toBe(position);
});

function periodNow(): number {
  return Math.floor(Date.now() / 172_800_000);
}

describe("a report without a token is unsigned", () => {
  it.each<[what: string, sent: Sent]>([
    ["of no arm", {}],
    ["of an arm that nobody draws", { arm: "policy" }],
    [
      "that came to a host without these rules, where a visitor writes the header",
      { arm: "offer", host: "h3.name.workers.dev" },
    ],
    ["where no rules are said to draw", { arm: "offer", ruleArms: undefined }],
    ["while a policy without arms is in force", { arm: "offer", stores: storesOf(adaptivePolicy({})) }],
  ])("%s", async (_, sent) => {
    const { fates, stores } = await send(sent);
    expect([fates, stores.records]).toEqual([{ unsigned: 1 }, []]);
  });

  it("while the kill switch is on", async () => {
    const stores = storesOf();
    stores.bundle = { inForce: inForce(DRAWING, { killSwitch: "fixed-h2" }), hashKey: HASH_KEY };
    expect((await send({ arm: "offer", stores })).fates).toEqual({ unsigned: 1 });
  });
});

it("a report whose client cannot be looked up does not count, and is counted", async () => {
  const stores = storesOf();
  stores.reply = fails;
  expect((await send({ arm: "offer", stores })).fates).toEqual({ unready: 1 });
});

describe("results of reports by rules", () => {
  const resultsFrom = (rows: readonly OutcomeRow[]) =>
    resultsOf(new Gathered(1, rows), DRAWING, { asked: 1, answered: 1 });
  const object = () => bindings.PATHS.get(bindings.PATHS.idFromName("local:1"));

  /** Each client reports three pages. A load takes a third less where HTTP/3 is offered, after the first page. */
  async function reportsOf(clients: number, isLost: (arm: string) => boolean): Promise<readonly OutcomeRow[]> {
    const stores = storesOf();
    const next = numbers(7);
    const known = new Map<string, Remembered>();
    let told: ClientReport[] = [];
    for (let client = 0; client < clients; client++) {
      const address = `10.${client >> 16}.${(client >> 8) & 255}.${client & 255}`;
      // Stands in for Cloudflare's hash.
      const arm = drawnArm({ ...DRAWING, exploration: { share: 1 } }, next());
      if (arm === undefined) throw new Error("everyone is drawn");
      const slow = 0.8 + 0.4 * next();
      for (let page = 0; page < 3; page++) {
        stores.reply = async () => known.get(address) ?? {};
        const usesH3 = arm === "offer" && page > 0;
        const loadMs = Math.round(900 * slow * (usesH3 ? 2 / 3 : 1));
        if (isLost(arm)) continue;
        await send({ arm, address, stores, report: { protocol: usesH3 ? "h3" : "h2", loadMs, atMs: loadMs + 5_000 } });
        known.set(address, { decided: { period: periodNow(), atMs: Date.now() } });
      }
      told.push(...stores.records.splice(0).flat());
      if (told.length >= 300 || client === clients - 1) {
        await object().record(told);
        told = [];
      }
    }
    // Sums are written together, every ten seconds.
    await runDurableObjectAlarm(object());
    return (await object().outcomes(1)) as unknown as OutcomeRow[];
  }

  it("claim what the arms' pages show", async () => {
    const { everyone, grounds } = resultsFrom(await reportsOf(600, () => false));
    expect(grounds.objections).toEqual([]);
    expect(everyone.load.claim).toMatchObject({ kind: "faster" });
    expect(everyone.offered.clients + everyone.withheld.clients).toBe(600);
    // Two of three pages, a third less each.
    expect(everyone.load.saved?.low).toBeGreaterThan(0.15);
    expect(everyone.load.saved?.high).toBeLessThan(0.32);
  });

  it("claim nothing where one arm's reports are lost: the sample-ratio check finds it", async () => {
    const lost = numbers(11);
    // A quarter of one arm's clients have their beacons blocked.
    let isBlocked = false;
    let calls = 0;
    const rows = await reportsOf(2_400, (arm) => {
      if (calls++ % 3 === 0) isBlocked = arm === "offer" && lost() < 0.25;
      return isBlocked;
    });
    const { everyone, grounds } = resultsFrom(rows);
    expect(grounds.objections).toEqual([expect.objectContaining({ kind: "sample-ratio" })]);
    expect(everyone.load.claim.kind).toBe("none");
  });
});
