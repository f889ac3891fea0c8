import { expect, it } from "vitest";
import { altSvcRules, passesWorker, type Rule } from "./zone-rules.ts";

const ROUTES = [
  { pattern: "www.example.com/*", script: "adaptive-h3" },
  { pattern: "www.example.com/images/*" },
  { pattern: "*.shop.example/cart", script: "other" },
];

it.each([
  ["https://www.example.com/", true],
  ["https://www.example.com/a/b?c=d", true],
  ["https://www.example.com/images/a.png", false],
  ["https://example.com/", false],
  ["https://wwwXexample.com/", false],
  ["https://a.shop.example/cart", true],
  ["https://a.shop.example/cart/2", false],
])("%s passes a worker: %s", (url, expected) => {
  expect(passesWorker(new URL(url), ROUTES)).toBe(expected);
});

it("takes the scheme and a missing path of a route as they are meant", () => {
  expect(passesWorker(new URL("https://a.example/"), [{ pattern: "https://a.example", script: "s" }])).toBe(true);
  expect(passesWorker(new URL("https://a.example/b"), [{ pattern: "https://a.example", script: "s" }])).toBe(false);
  expect(passesWorker(new URL("https://a.example/"), [])).toBe(false);
});

it("sees rules that make Alt-Svc of the marker, and what others make of it after them", () => {
  const rule = (headers: NonNullable<Rule["action_parameters"]>["headers"] & object): Rule => ({
    enabled: true,
    action_parameters: { headers },
  });
  const ours = [
    rule({ "Alt-Svc": { operation: "set", expression: 'http.response.headers["h3-advice"][0]' } }),
    rule({ "h3-advice": { operation: "remove" } }),
  ];
  const theirs = rule({ "ALT-SVC": { operation: "remove" } });
  expect(altSvcRules(ours)).toBe("marker");
  expect(altSvcRules([theirs, ...ours])).toBe("marker");
  expect(altSvcRules([...ours, theirs])).toBe("other");
  expect(altSvcRules([...ours, { ...theirs, enabled: false }])).toBe("marker");
  expect(altSvcRules([rule({ "x-a": { operation: "remove" } }), {}])).toBe("none");
});
