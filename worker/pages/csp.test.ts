import { expect, it } from "vitest";
import { allows, couldAllow, type Load, readPolicies } from "./csp.ts";

const SELF = new URL("https://www.test/page");
const FILE = "https://files.test:8443/static/a%20b.js";

const script = (over: Partial<Load> = {}): Load => ({ kind: "script", url: new URL(FILE), ...over });
const allowed = (policies: string | null, load: Load): boolean =>
  readPolicies(policies).every((policy) => allows(policy, SELF, load));

it.each<[boolean, Load["kind"], string | null]>([
  [true, "script", null],
  [true, "script", ""],
  // Directive by directive, with what it falls back to.
  [false, "script", "default-src 'none'; img-src https://files.test:8443"],
  [true, "image", "default-src 'none'; img-src https://files.test:8443"],
  [true, "style", "img-src 'none'"],
  [false, "style", "default-src 'self'; script-src *"],
  [true, "style", "style-src 'none'; style-src-elem *"],
  [false, "style", "style-src *; style-src-elem 'none'"],
  [true, "script", "script-src 'none'; script-src-elem *"],
  [false, "connect", "default-src *; connect-src 'self'"],
  [true, "image", "IMG-SRC HTTPS://FILES.TEST:8443"],
  [false, "script", "default-src"],
  [false, "script", "script-src 'none'; script-src *"],
  // What names the host and allows nothing.
  [false, "script", "script-src 'self'; report-uri https://files.test:8443/csp"],
  [false, "script", "script-src https://files.test:8443.other.test"],
  [false, "script", "script-src https://cdn-files.test:8443"],
  [false, "script", "script-src https://files.test.other:8443"],
  // Schemes.
  [true, "script", "script-src https:"],
  [true, "script", "script-src http:"],
  [false, "script", "script-src data: blob:"],
  [true, "script", "script-src http://files.test:8443"],
  [false, "script", "script-src wss://files.test:8443"],
  // Hosts.
  [true, "script", "script-src files.test:8443"],
  [true, "script", "script-src *"],
  [true, "script", "script-src *:8443"],
  [true, "script", "script-src *.test:8443"],
  [false, "script", "script-src *.files.test:8443"],
  [true, "script", "script-src other.test FILES.test:8443"],
  // Ports.
  [false, "script", "script-src files.test"],
  [false, "script", "script-src https://files.test:443"],
  [true, "script", "script-src files.test:*"],
  // Paths.
  [true, "script", "script-src files.test:8443/"],
  [true, "script", "script-src files.test:8443/static/"],
  [false, "script", "script-src files.test:8443/static"],
  [false, "script", "script-src files.test:8443/Static/"],
  [true, "script", "script-src files.test:8443/static/a%20b.js"],
  // Keywords.
  [false, "script", "script-src 'self' 'unsafe-inline'"],
  [false, "script", "script-src 'none'"],
  [false, "script", "script-src * 'strict-dynamic'"],
  [true, "style", "default-src * 'strict-dynamic'"],
  // Several policies: all of them.
  [false, "script", "script-src *, script-src 'self'"],
  [true, "script", "script-src *, img-src 'none'"],
])("%s for a %s: %s", (expected, kind, policies) => {
  expect(allowed(policies, script({ kind }))).toBe(expected);
});

it.each<[boolean, Load["kind"], string, string | undefined]>([
  [true, "script", "script-src 'nonce-aB1='", "aB1="],
  [false, "script", "script-src 'nonce-aB1='", "ab1="],
  [false, "script", "script-src 'nonce-aB1='", undefined],
  [false, "script", "script-src 'nonce-'", ""],
  [true, "script", "script-src 'nonce-a' 'strict-dynamic'", "a"],
  [true, "style", "style-src 'nonce-a'", "a"],
  [false, "image", "img-src 'nonce-a'", "a"],
])("%s for a %s: %s, with the nonce %j", (expected, kind, policies, nonce) => {
  expect(allowed(policies, script({ kind, nonce }))).toBe(expected);
});

it("without a port a source is for its scheme's, and 'self' for the page's own", () => {
  const own = (url: string): Load => script({ url: new URL(url) });
  expect(allowed("script-src files.test", own("https://files.test/a"))).toBe(true);
  expect(allowed("script-src files.test:443", own("https://files.test/a"))).toBe(true);
  expect(allowed("script-src 'self'", own("https://www.test/a"))).toBe(true);
  expect(allowed("script-src 'self'", own("https://www.test:8443/a"))).toBe(false);
});

it.each([
  [true, "img-src https://files.test:8443/static/a.png"],
  [true, "default-src 'self'; script-src 'nonce-a'"],
  [true, "script-src 'none'"],
  [false, "default-src 'self'"],
  [false, "default-src 'self'; connect-src *; report-uri https://files.test:8443/"],
])("%s: %s could let something be loaded", (expected, policy) => {
  const kinds = ["image", "script", "style"] as const;
  const there = new URL("https://files.test:8443");
  const could = (kind: Load["kind"]): boolean =>
    readPolicies(policy).every((each) => couldAllow(each, SELF, kind, there));
  expect(kinds.some(could)).toBe(expected);
});
