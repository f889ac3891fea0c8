import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { afterEach, expect, it, vi } from "vitest";
import { adaptivePolicy } from "../../policy-api/decision/testing.ts";
import type { Decision } from "../../policy-api/decision/decide.ts";
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
  [
    "with a policy on other kinds of files",
    { "content-security-policy": "default-src 'none'; img-src *; report-uri /" },
  ],
  ["whose policy only reports", { "content-security-policy-report-only": "default-src 'none'" }],
  ["that takes files of other hosts without cookies", { "cross-origin-embedder-policy": "credentialless" }],
  ["whose embedder policy only reports", { "cross-origin-embedder-policy-report-only": "require-corp" }],
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
  [
    "whose policy names the host for reports alone",
    { "content-security-policy": "default-src 'self'; report-uri https://files.test" },
    200,
  ],
  ["whose policy names another host like it", { "content-security-policy": "default-src https://my-files.test" }, 200],
  ["that embeds what allows it", { "cross-origin-embedder-policy": "require-corp" }, 200],
  ["that embeds what allows it, and reports", { "cross-origin-embedder-policy": 'require-corp; report-to="a"' }, 200],
  ["by itself, which embeds what allows it", { "document-isolation-policy": "isolate-and-require-corp" }, 200],
  ["in a compression that the runtime does not know", { "content-encoding": "zstd" }, 200],
])("leaves a page %s", async (_what, headers, status) => {
  const response = new Response(HTML, { status, headers: { ...TYPE, ...headers } });
  expect(withAssets(response, URL_OF_PAGE, ASSETS)).toBe(response);
});

it("names at the other host the kinds of files that the policies allow from there", async () => {
  const page = `<img src=/a><script src=/b></script><script nonce=n src=/c></script><link rel=stylesheet href=/d><link rel=preload as=style href=/d>`;
  const bodyUnder = async (policy: string): Promise<string> => {
    const response = new Response(page, { headers: { ...TYPE, "content-security-policy": policy } });
    return (await withAssets(response, URL_OF_PAGE, ASSETS).text()).replaceAll("https://files.test", "*");
  };
  const [img, b, c, d, preload] = ["<img src=/a>", "src=/b", "src=/c", "rel=stylesheet href=/d", "as=style href=/d"];
  for (const [policy, ...named] of [
    ["default-src 'self'; img-src 'self' files.test", img],
    ["default-src 'self' files.test; script-src 'self'", img, d, preload],
    ["style-src 'self' https:; img-src 'self'; script-src 'nonce-n'", c, d, preload],
    ["script-src 'nonce-n' 'strict-dynamic' files.test", img, c, d, preload],
    ["default-src files.test, script-src-elem 'self'", img, d, preload],
    ["default-src files.test/b", b],
  ]) {
    const expected = named.reduce((text, part) => text.replaceAll(part ?? "", (part ?? "").replace("=/", "=*/")), page);
    expect([policy, await bodyUnder(policy ?? "")]).toEqual([policy, expected]);
  }
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
