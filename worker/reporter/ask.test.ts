import { describe, expect, it } from "vitest";
import type { PageDecision } from "../../policy-api/visitors/page-outcome.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";
import { adaptivePolicy, sample } from "../../policy-api/decision/testing.ts";
import { Hasher } from "../hasher.ts";
import { Isolate } from "../isolate.ts";
import type { Settings } from "../settings.ts";
import {
  CF_H2,
  CF_H3,
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
const REPORTING = { share: 1, inject: false };
const ADDRESS = { client: "192.0.2.7", network: "192.0.2.0/24" };
const TAG = 'h.src="/_h3/v1/reporter.js"';
const PAGE = "<!doctype html><head><title>t</title>";

const asking = (policy: Policy = mode("observe"), over: Partial<Policy["reports"]> = {}): Policy => ({
  ...policy,
  reports: { ...REPORTING, ...over },
});

interface Seen {
  readonly headers: Headers;
  readonly text: string;
  /** What the page can read in its Server-Timing. */
  readonly decision: PageDecision | undefined;
}

interface Visited {
  readonly request?: Request;
  readonly stores?: FakeStores;
  readonly settings?: Settings;
  readonly answer?: ResponseInit;
}

async function seen(
  policy: Policy,
  { request = navigation(), stores = new FakeStores(policy), settings = SETTINGS, answer = {} }: Visited = {},
): Promise<Seen> {
  origin.answer = async () => new Response(PAGE, { headers: PAGE_HEADERS, ...answer });
  const { response } = await visit(request, stores, new Isolate({ ...settings, budgetMs: 1000 }));
  const token = /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1];
  const { client } = hasher.named(ADDRESS, 1).keys;
  const read = token === undefined ? undefined : readToken(token, client, hasher);
  return { headers: response.headers, text: await response.text(), decision: read?.decision };
}

describe("who is asked to report", () => {
  it("nobody, unless the policy says so", async () => {
    const { headers, text } = await seen(mode("fixed-h3"));
    expect([headers.get("server-timing"), text]).toEqual([null, PAGE]);
  });

  it.each([
    ["observe", mode("observe"), CF_H2],
    ["fixed-h3", mode("fixed-h3"), CF_H2],
    ["fixed-h2, over HTTP/3", mode("fixed-h2"), CF_H3],
    ["adaptive", adaptivePolicy(), CF_H2],
  ])("in every mode: %s", async (_name, policy, cf) => {
    expect((await seen(asking(policy), { request: navigation(cf) })).decision).toBeDefined();
  });

  it.each<[string, Record<string, string>]>([
    ["Global Privacy Control", { "sec-gpc": "1" }],
    ["data is saved", { "save-data": "on" }],
    ["the page is fetched ahead of time", { "sec-purpose": "prefetch;prerender" }],
    ["the same, as it was once said", { purpose: "prefetch" }],
  ])("not a visitor who does not wait, or does not want it: %s", async (_name, headers) => {
    const { text, headers: got } = await seen(asking(mode("fixed-h3"), { inject: true }), {
      request: navigation(CF_H2, headers),
    });
    expect([got.get("server-timing"), text]).toEqual([null, PAGE]);
    expect(got.get("alt-svc")).not.toBeNull();
  });

  it.each<[string, ResponseInit]>([
    ["an error", { status: 500, headers: PAGE_HEADERS }],
    ["no HTML", { headers: { "content-type": "application/pdf" } }],
    ["a file to keep", { headers: { ...PAGE_HEADERS, "content-disposition": "attachment" } }],
  ])("no page, no question: %s", async (_name, answer) => {
    const { headers, text } = await seen(asking(mode("observe"), { inject: true }), { answer });
    expect([headers.get("server-timing"), text]).toEqual([null, PAGE]);
  });

  it("nor an answer without a body, after which a browser would speak of the load before", async () => {
    origin.answer = async () => new Response(null, { status: 304, headers: PAGE_HEADERS });
    const { response } = await visit(navigation(), new FakeStores(asking()));
    expect([response.status, response.headers.get("server-timing")]).toEqual([304, null]);
  });

  it("nor anybody whose address cannot be believed", async () => {
    expect((await seen(asking(), { settings: { ...SETTINGS, edge: "none" } })).headers.get("server-timing")).toBeNull();
  });

  it("nor anybody while the kill switch is on", async () => {
    const stores = new FakeStores(asking());
    stores.bundle = { inForce: inForce(asking(), { killSwitch: "fixed-h2" }), hashKey: HASH_KEY };
    expect((await seen(asking(), { stores })).headers.get("server-timing")).toBeNull();
  });

  it("a share of clients, always the same, whatever else is drawn for them", async () => {
    let asked = 0;
    let alsoShare = 0;
    for (let i = 0; i < 400; i++) {
      const address = { client: `10.0.${i}.1`, network: `10.0.${i}.0/24` };
      const [unit, share] = [hasher.unit("reporting", address), hasher.unit("share", address)];
      if (unit >= 0.25) continue;
      asked++;
      if (share < 0.25) alsoShare++;
    }
    expect(asked).toBeGreaterThan(70);
    expect(asked).toBeLessThan(130);
    expect(alsoShare).toBeLessThan(asked / 2);
    const unit = hasher.unit("reporting", ADDRESS);
    for (const [share, isAsked] of [
      [unit * 0.99, false],
      [unit * 1.01, true],
    ] as const)
      expect((await seen(asking(mode("observe"), { share }))).decision !== undefined).toBe(isAsked);
  });
});

describe("what the page takes along", () => {
  it("is what was decided, by what, and when", async () => {
    const beforeMs = Date.now();
    const { decision } = await seen(asking(mode("fixed-h3")));
    expect(decision).toMatchObject({
      policyVersion: 3,
      revision: 3,
      arm: "policy",
      advertised: "h3",
      propensity: 1,
      position: "unknown",
      transport: "tcp",
      rttMs: 40,
      contentBytes: 1_000_000,
    });
    expect(decision?.atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(decision?.atMs).toBeLessThanOrEqual(Date.now());
  });

  it("stands beside the origin's own entries, in a header that no cache keeps", async () => {
    const { headers } = await seen(asking(), { answer: { headers: { ...PAGE_HEADERS, "server-timing": "db;dur=5" } } });
    expect(headers.get("server-timing")).toMatch(/^db;dur=5, h3;desc="[\w-]{64}"$/);
  });

  it("is another one each time", async () => {
    const tokens = new Set([
      (await seen(asking())).headers.get("server-timing"),
      (await seen(asking())).headers.get("server-timing"),
    ]);
    expect(tokens.size).toBe(2);
  });

  it("is missing where it is late: a page does not wait for it", async () => {
    const policy = asking(adaptivePolicy());
    const stores = new FakeStores(policy);
    stores.reply = never;
    const { response } = await visit(navigation(), stores);
    expect([response.status, response.headers.get("server-timing")]).toEqual([200, null]);
  });

  it("is what was decided in the end, whatever came while the origin worked", async () => {
    const policy = asking(adaptivePolicy());
    const isolate = new Isolate({ ...SETTINGS, budgetMs: 1000 });
    const stores = new FakeStores(policy);
    let release = (): void => undefined;
    origin.answer = () =>
      new Promise((resolve) => {
        release = () => resolve(new Response(PAGE, { headers: PAGE_HEADERS }));
      });
    const visiting = visit(navigation(), stores, isolate);
    for (let i = 0; i < 20; i++) await scheduler.wait(1);
    // The look-up is over, and the origin still works. Now news comes that this client loses packets.
    const client = hasher.named(ADDRESS, 1).keys;
    isolate.reports.add(
      stores.lookUps[0]?.object.name ?? "",
      client,
      { sample: sample({ atMs: Date.now(), rttMs: 40, packetsSent: 5000, packetsLost: 250 }) },
      Date.now(),
    );
    release();
    const { response } = await visiting;
    expect(response.headers.get("alt-svc")).toContain("h3=");
    const token = /h3;desc="([^"]*)"/.exec(response.headers.get("server-timing") ?? "")?.[1] ?? "";
    expect(readToken(token, client.client, hasher)?.decision).toMatchObject({ advertised: "h3", place: { loss: 1 } });
  });
});

describe("the tag", () => {
  it("is put in where the policy says so, and the page is asked", async () => {
    const { text, decision } = await seen(asking(mode("observe"), { inject: true }));
    expect(text.startsWith("<!doctype html><head><script>")).toBe(true);
    expect(text).toContain(TAG);
    expect(text.endsWith("</script><title>t</title>")).toBe(true);
    expect(decision).toBeDefined();
  });

  it("is the owner's, else", async () => {
    expect((await seen(asking())).text).toBe(PAGE);
  });

  it("stays out of a page that must not change, which is asked all the same", async () => {
    const answer = { headers: { ...PAGE_HEADERS, "cache-control": "no-transform" } };
    const { text, decision } = await seen(asking(mode("observe"), { inject: true }), { answer });
    expect(text).toBe(PAGE);
    expect(decision).toBeDefined();
  });
});
