import { describe, expect, it } from "vitest";
import type { DecisionLine } from "../../policy-api/decision/decide.ts";
import { DECISION_HEADINGS, decisionText, parseDecisionLine } from "./decision-text.ts";

const line: DecisionLine = {
  event: "decision",
  client: "aB3xYz",
  httpProtocol: "HTTP/2",
  policyVersion: 1,
  request: { transport: "tcp", rttMs: 41.234 },
  history: { state: "unknown" },
  decision: { advertise: { kind: "h3", maS: 60 }, mode: "fixed-h3", reason: "mode-fixed-h3", propensity: 1 },
};

describe("decisionText", () => {
  it("a decision that looks at no path", () => {
    expect(decisionText(line)).toBe("aB3xYz  HTTP/2    41.2 ms   - / -            offer h3, 60 s     mode-fixed-h3");
  });

  it("a connection of which nothing is known", () => {
    const unknown = { ...line, httpProtocol: "", request: { transport: "tcp" } } as const;
    expect(decisionText(unknown)).toBe("aB3xYz  ?         -         - / -            offer h3, 60 s     mode-fixed-h3");
  });

  const believed: DecisionLine["decision"] = {
    advertise: { kind: "clear" },
    mode: "adaptive",
    reason: "h2-faster",
    rttMs: 0.123,
    lossRatio: 0.06,
    saving: { gain: -0.1, deviation: 0.02 },
    propensity: 1,
  };

  const history: DecisionLine["history"] = {
    state: "known",
    connections: [
      { transport: "tcp", ageMs: 0, packets: 900, lost: 10 },
      { transport: "quic", ageMs: 0, packets: 1_000, lost: 103 },
      { transport: "tcp", ageMs: 0, packets: 100, lost: 5 },
    ],
  };

  it("a decision by gains: the RTT that it took, what each transport lost, and what a page gains", () => {
    expect(decisionText({ ...line, httpProtocol: "HTTP/3", history, decision: believed })).toBe(
      "aB3xYz  HTTP/3    0.12 ms   1.50 % / 10.3 %  clear              h2-faster (-9.5 %)",
    );
  });

  it("shows no loss where too little was counted", () => {
    const connections = [{ transport: "quic", ageMs: 0, packets: 99, lost: 9 }] as const;
    expect(decisionText({ ...line, history: { state: "known", connections }, decision: believed })).toBe(
      "aB3xYz  HTTP/2    0.12 ms   - / -            clear              h2-faster (-9.5 %)",
    );
  });

  it.each([
    [Math.log(1.25), "(+25.0 %)"],
    [0.0499, "(+5.1 %)"],
    [0, "(0.0 %)"],
  ])("a gain of %d in the logarithm is how much faster a page is: %s", (gain, said) => {
    const decision = { ...believed, saving: { gain, deviation: 0.02 } };
    expect(decisionText({ ...line, decision })).toContain(said);
  });

  it("each column begins under its heading", () => {
    const text = decisionText({ ...line, history, decision: believed });
    for (const [heading, value] of [
      ["client", "aB3xYz"],
      ["protocol", "HTTP/2"],
      ["RTT", "0.12 ms"],
      ["loss", "1.50 %"],
      ["decision", "clear"],
      ["reason", "h2-faster"],
    ] as const)
      expect(text.indexOf(value), heading).toBe(DECISION_HEADINGS.indexOf(heading));
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
