import { describe, expect, it } from "vitest";
import { hasShape, isReplyOf, routeOf } from "./api.ts";
import { ProblemDetails } from "./routes.ts";

const health = {
  status: "ok",
  problems: [],
  warnings: [],
  policy: "ok",
  store: "ok",
  revision: 3,
  killSwitch: null,
  http3: "ok",
  udpBuffers: null,
  stack: { tcp: "bbr", quic: "quic-go" },
};
const explanation = {
  revision: 1,
  policyVersion: 2,
  request: { transport: "tcp", path: "/" },
  history: { state: "known", connections: [{ transport: "tcp", packets: 5_000 }] },
  decision: { advertise: { kind: "h3", maS: 60 }, mode: "adaptive", reason: "h3-faster", propensity: 1 },
  altSvc: null,
};
const problem = { type: "about:blank", status: 404, detail: "there is no version 7" };

describe("routeOf", () => {
  it.each([
    ["GET", "/_h3/v1/health", undefined],
    ["get", "/_h3/v1/policies/3", "read"],
    ["POST", "/_h3/v1/decisions/explain", "read"],
    ["DELETE", "/_h3/v1/activation/kill-switch", "write"],
  ])("%s %s needs the scope %s", (method, path, scope) => {
    expect(routeOf(method, path).scope).toBe(scope);
  });

  it.each([
    ["GET", "/_h3/v1/policies/3/4"],
    ["GET", "/_h3/v1/policies/"],
    ["PATCH", "/_h3/v1/policies"],
    ["GET", "/policies"],
  ])("%s %s is not in the contract", (method, path) => {
    expect(() => routeOf(method, path)).toThrow("The contract has no");
  });
});

describe("isReplyOf", () => {
  it.each<[string, string, number, unknown, boolean]>([
    ["GET", "health", 200, health, true],
    ["GET", "health", 503, health, true],
    ["GET", "health", 404, health, false],
    ["GET", "health", 200, undefined, false],
    ["GET", "policies/3", 304, undefined, false],
    ["GET", "policies/3", 404, problem, false],
    ["POST", "decisions/explain", 200, explanation, true],
    ["POST", "decisions/explain", 200, { ...explanation, altSvc: undefined }, false],
    ["POST", "decisions/explain", 200, { ...explanation, history: {} }, false],
  ])("%s %s %i", (method, resource, status, body, expected) => {
    expect(isReplyOf(routeOf(method, `/_h3/v1/${resource}`), status, body)).toBe(expected);
  });

  it("lets a newer server say more", () => {
    const decision = { ...explanation.decision, reason: "new", advertise: { kind: "later", maS: 5 }, because: "new" };
    const route = routeOf("POST", "/_h3/v1/decisions/explain");
    expect(isReplyOf(route, 200, { ...explanation, decision, more: [] })).toBe(true);
    expect(isReplyOf(route, 200, { ...explanation, decision: { ...decision, propensity: "1" } })).toBe(false);
    expect(isReplyOf(route, 200, { ...explanation, decision: { ...decision, reason: 1 } })).toBe(false);
    expect(isReplyOf(route, 200, { ...explanation, decision: { ...decision, advertise: "h3" } })).toBe(false);
  });
});

it.each<[unknown, boolean]>([
  [problem, true],
  [{ ...problem, type: "https://example.com/other", current: { revision: 1 } }, true],
  [{ ...problem, faults: [{ pointer: "/a", message: "is missing" }] }, true],
  [{ ...problem, faults: [{ pointer: 1 }] }, false],
  [{ status: 404 }, false],
  ["<html>", false],
])("hasShape of problem details: %j", (body, expected) => {
  expect(hasShape(ProblemDetails, body)).toBe(expected);
});
