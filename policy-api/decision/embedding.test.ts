import { expect, it } from "vitest";
import { isKeptFrom, requiringCorp } from "./embedding.ts";

it.each([
  [undefined, {}],
  ["cross-origin-embedder-policy", { "cross-origin-embedder-policy": "require-corp" }],
  ["cross-origin-embedder-policy", { "cross-origin-embedder-policy": ' require-corp;report-to="a"' }],
  [undefined, { "cross-origin-embedder-policy": "credentialless" }],
  [undefined, { "cross-origin-embedder-policy": "unsafe-none" }],
  [undefined, { "cross-origin-embedder-policy": "require-corp, require-corp" }],
  [undefined, { "cross-origin-embedder-policy-report-only": "require-corp" }],
  ["document-isolation-policy", { "document-isolation-policy": "isolate-and-require-corp" }],
])("%s of %j requires files to allow it", (expected, headers) => {
  expect(requiringCorp((name) => (headers as Record<string, string>)[name])).toBe(expected);
});

it.each([
  [false, "https://files.example.com", undefined],
  [false, "https://files.example.com", "cross-origin"],
  [true, "https://files.example.com", "same-origin"],
  [false, "https://www.example.com", "same-origin"],
  [true, "https://www.example.com:8443", "same-origin"],
  [false, "https://files.example.com", "same-site"],
  [false, "https://example.com", "same-site"],
  [true, "https://files.example.net", "same-site"],
  [true, "https://127.0.0.1", "same-site"],
])("%s: a file at %s is kept from https://www.example.com by %s", (expected, file, policy) => {
  expect(isKeptFrom(new URL("https://www.example.com"), new URL(file), policy)).toBe(expected);
});

it("addresses are sites of their own", () => {
  expect(isKeptFrom(new URL("https://192.0.2.1"), new URL("https://198.51.2.1"), "same-site")).toBe(true);
});
