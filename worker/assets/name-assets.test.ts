import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { adaptivePolicy } from "../../policy-api/core/testing.ts";
import type { Decision } from "../../policy-api/core/decide.ts";
import { handleVisitor } from "../handler.ts";
import { Isolate } from "../isolate.ts";
import type { Advice } from "../advise.ts";
import { CF_H2, FakeStores, navigation, SETTINGS } from "../testing.ts";
import { prefersH2, withAssets } from "./name-assets.ts";

const ASSETS = { origin: "https://files.test", paths: ["/"] };
const HTML = "<!doctype html><img src=/a.png>";
const NAMED = "<!doctype html><img src=https://files.test/a.png>";
const URL_OF_PAGE = new URL("https://www.test/");
const TYPE = { "content-type": "text/html; charset=utf-8" };

afterEach(() => {
  vi.unstubAllGlobals();
});

async function bodyOf(headers: Record<string, string>, status = 200): Promise<string> {
  return withAssets(new Response(HTML, { status, headers: { ...TYPE, ...headers } }), URL_OF_PAGE, ASSETS).text();
}

it.each<[string, Record<string, string>]>([
  ["as it comes", {}],
  ["with a link that preloads nothing", { link: "</>; rel=canonical" }],
  ["with a policy that names the host", { "content-security-policy": "img-src Files.test" }],
])("changes a page %s", async (_what, headers) => {
  expect(await bodyOf(headers)).toBe(NAMED);
});

it.each<[string, Record<string, string>, number]>([
  ["of another type", { "content-type": "text/plain" }, 200],
  ["that is an error", {}, 404],
  ["to be saved", { "content-disposition": "attachment" }, 200],
  ["that must not change", { "cache-control": "no-transform" }, 200],
  ["with a digest", { "repr-digest": "sha-256=:abc=:" }, 200],
  ["whose headers preload", { link: "</a.png>; rel=preload; as=image" }, 200],
  ["with a policy that does not name the host", { "content-security-policy": "default-src 'self'" }, 200],
  ["in a compression that the runtime does not know", { "content-encoding": "zstd" }, 200],
])("leaves a page %s", async (_what, headers, status) => {
  const response = new Response(HTML, { status, headers: { ...TYPE, ...headers } });
  expect(withAssets(response, URL_OF_PAGE, ASSETS)).toBe(response);
});

it.each<[Decision["advertise"], Decision["mode"], Decision["reason"], boolean]>([
  [{ kind: "nothing" }, "adaptive", "h2-faster", true],
  [{ kind: "clear" }, "adaptive", "quic-loses", true],
  [{ kind: "nothing" }, "fixed-h2", "mode-fixed-h2", true],
  [{ kind: "h3", maS: 60 }, "adaptive", "h3-faster", false],
  [{ kind: "nothing" }, "observe", "mode-observe", false],
  [{ kind: "clear" }, "fixed-h2", "kill-switch", false],
  [{ kind: "nothing" }, "adaptive", "not-measured", false],
])("after %j by %s, for %s: %s", (advertise, mode, reason, expected) => {
  expect(prefersH2({ decision: { advertise, mode, reason, propensity: 1 } } as Advice)).toBe(expected);
});

it.each([
  [20, NAMED],
  [400, HTML],
])("a visitor at %d ms gets the page that the policy says", async (clientTcpRtt, expected) => {
  vi.stubGlobal("fetch", async () => new Response(HTML, { headers: { ...TYPE, etag: '"a"' } }));
  const policy = adaptivePolicy({ method: { kind: "rtt-threshold", rttMs: 100 } });
  const ctx = createExecutionContext();
  const isolate = new Isolate({ ...SETTINGS, assets: ASSETS, budgetMs: 1_000 });
  const request = navigation({ ...CF_H2, clientTcpRtt });
  const response = await handleVisitor(request, new URL(request.url), new FakeStores(policy), ctx, isolate);
  expect(await response.text()).toBe(expected);
  await waitOnExecutionContext(ctx);
});
