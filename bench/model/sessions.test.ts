import { describe, expect, it } from "vitest";
import { FLOWS, resumeOf } from "./flow.ts";
import { sessionsOf } from "./sessions.ts";

describe("sessionsOf", () => {
  it.each(FLOWS)("times exactly one session of %s", (flow) => {
    for (const arm of ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"] as const)
      expect(sessionsOf(flow, arm, { imageBytes: 1000 }).filter(({ timed }) => timed)).toHaveLength(1);
  });

  it.each(["resumed", "early", "return"] as const)(
    "%s comes again over the same protocol, with what the first visit left",
    (flow) => {
      const sessions = sessionsOf(flow, "fixed-h3", { imageBytes: 1000 });
      expect(sessions.map(({ timed, firstProtocol }) => [timed, firstProtocol])).toEqual([
        [false, "h3"],
        [true, "h3"],
      ]);
      expect(resumeOf(flow)).toBe(flow === "early" ? "early-data" : "tickets");
      expect(FLOWS.filter((other) => resumeOf(other) !== undefined)).toEqual(["resumed", "early", "return"]);
    },
  );

  it("trains where the answer depends on it, over the protocol of the flow's name", () => {
    expect(sessionsOf("trained", "adaptive", { imageBytes: 1000 }).map(({ firstProtocol }) => firstProtocol)).toEqual([
      "h3",
      "h2",
    ]);
    expect(
      sessionsOf("trained-on-h2", "adaptive", { imageBytes: 1000 }).map(({ firstProtocol }) => firstProtocol),
    ).toEqual(["h2", "h2"]);
    expect(sessionsOf("trained", "always-offer", { imageBytes: 1000 })).toHaveLength(1);
  });

  it("visits after a session over HTTP/2 where the answer depends on it", () => {
    const visit = sessionsOf("visit", "adaptive", { imageBytes: 1000 });
    const [before, ...after] = sessionsOf("visit-after-h2", "adaptive", { imageBytes: 1000 });
    expect(before).toMatchObject({ timed: false, firstProtocol: "h2" });
    expect(after).toEqual(visit);
    expect(sessionsOf("visit-after-h2", "always-offer", { imageBytes: 1000 })).toEqual(visit);
  });

  it("begins on HTTP/3 in fixed-h3 alone", () => {
    expect(sessionsOf("cold", "fixed-h3", { imageBytes: 1000 })[0]?.firstProtocol).toBe("h3");
    expect(sessionsOf("cold", "always-offer", { imageBytes: 1000 })[0]?.firstProtocol).toBe("h2");
  });
});
