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
    expect(decisionText(line)).toBe("aB3xYz  HTTP/2    41.2 ms   -              offer h3, 60 s     mode-fixed-h3");
  });

  it("a connection of which nothing is known", () => {
    const unknown = { ...line, httpProtocol: "", request: { transport: "tcp" } } as const;
    expect(decisionText(unknown)).toBe("aB3xYz  ?         -         -              offer h3, 60 s     mode-fixed-h3");
  });

  const believed: DecisionLine["decision"] = {
    advertise: { kind: "clear" },
    mode: "adaptive",
    reason: "h2-faster",
    rttMs: 0.123,
    lossRatio: 0.0175,
    saving: { gain: -0.1, deviation: 0.02 },
    propensity: 1,
  };

  it("a decision by gains: the RTT that it took, its own loss, and what a page gains", () => {
    expect(decisionText({ ...line, httpProtocol: "HTTP/3", decision: believed })).toBe(
      "aB3xYz  HTTP/3    0.12 ms   1.75 %         clear              h2-faster (-9.5 %)",
    );
  });

  it("shows no loss where too little was counted", () => {
    expect(decisionText({ ...line, decision: { ...believed, lossRatio: undefined } })).toBe(
      "aB3xYz  HTTP/2    0.12 ms   -              clear              h2-faster (-9.5 %)",
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
    const text = decisionText({ ...line, decision: believed });
    for (const [heading, value] of [
      ["client", "aB3xYz"],
      ["protocol", "HTTP/2"],
      ["RTT", "0.12 ms"],
      ["its loss", "1.75 %"],
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
