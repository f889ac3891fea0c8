import { describe, expect, it } from "vitest";
import type { DecisionLine } from "../../policy-api/core/decision-line.ts";
import { decisionText, parseDecisionLine } from "./decision-text.ts";

const line: DecisionLine = {
  event: "decision",
  client: "aB3xYz",
  httpProtocol: "HTTP/2",
  policyVersion: 1,
  request: { transport: "tcp", rttMs: 41.234 },
  history: { state: "unknown" },
  decision: { advertise: { kind: "h3", maS: 60 }, mode: "adaptive", reason: "cold-start", propensity: 1 },
};

describe("decisionText", () => {
  it("a cold start", () => {
    expect(decisionText(line)).toBe("aB3xYz  HTTP/2    41.2 ms   -        -              offer h3, 60 s   cold-start");
  });

  it("a decision on a path, with what it predicts", () => {
    const decision: DecisionLine["decision"] = {
      advertise: { kind: "clear" },
      mode: "adaptive",
      reason: "h2-faster",
      basis: "client",
      path: { rttMs: 0.123, lossRatio: 0.0123, deliveryRateBps: 2_500_000 },
      predicted: { stayMs: 446.7, switchMs: 22_500, coldMs: 535.7, contentBytes: 1, clamped: false },
      propensity: 1,
    };
    expect(decisionText({ ...line, httpProtocol: "HTTP/3", decision })).toBe(
      "aB3xYz  HTTP/3    0.12 ms   1.23 %   20.0 Mbit/s    clear            " +
        "h2-faster (client; stay 447 ms, switch 22.5 s, cold 536 ms)",
    );
  });
});

describe("parseDecisionLine", () => {
  it("reads back what the worker logs", () => {
    expect(parseDecisionLine(JSON.stringify(line))).toEqual(line);
  });

  it.each(["", "some other line", '{"event":"decision"', '{"event":"other"}'])("returns undefined for %j", (text) => {
    expect(parseDecisionLine(text)).toBeUndefined();
  });
});
