import { policyOf } from "../lab/arm-policy.ts";
import { describe, expect, it } from "vitest";
import { readOptions } from "../harness/loads/options.ts";
import { CONGESTIONS } from "../model/congestion.ts";
import { parsePolicy } from "../../policy-api/core/parse-policy.ts";
import { QUICS } from "../model/arm.ts";
import { FLOWS, resumeOf } from "../model/flow.ts";
import { sessionsOf } from "../model/sessions.ts";
import { EXPERIMENTS } from "./list.ts";

describe.each(Object.entries(EXPERIMENTS))("%s", (name, make) => {
  it.each([["--quick"], ["--full"], []])("is data that makes sense (%s)", (...flags: string[]) => {
    const experiment = make(readOptions(flags));
    expect(experiment.name).toBe(name);
    const ids = experiment.cells.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // An id is part of a load's id and of a file's field: no separators of either.
    for (const id of ids) expect(id).toMatch(/^[a-z0-9.-]+$/);
    const { first, cap, comparisons } = experiment.allocation;
    expect(first).toBeLessThanOrEqual(cap);
    for (const { flow, a, b } of comparisons)
      for (const arm of [a, b]) expect(experiment.loads).toContainEqual({ arm, flow });
  });
});

it("the grid has the published 180 cells for each congestion control", () => {
  expect(EXPERIMENTS["ohashi-grid"]?.(readOptions([])).cells).toHaveLength(360);
});

it("the evaluation numbers its networks as published: loss first, then delay", () => {
  const { cells } = EXPERIMENTS["ohashi-evaluation"]?.(readOptions(["--congestion", "cubic"])) ?? { cells: [] };
  expect(cells.map(({ network }) => [network.name, network.lossRatio, network.delayMs])).toEqual([
    ["1", 0, 0],
    ["2", 0, 12.5],
    ["3", 0, 25],
    ["4", 0.025, 0],
    ["5", 0.025, 12.5],
    ["6", 0.025, 25],
    ["7", 0.05, 0],
    ["8", 0.05, 12.5],
    ["9", 0.05, 25],
  ]);
});

describe("the evaluation of another QUIC", () => {
  const experiment = EXPERIMENTS["ohashi-evaluation"]?.(readOptions(["--quic", "quiche-bbr2"]));

  it("leaves out what needs a worker behind HTTP/3", () => {
    expect(experiment?.takesQuic).toBe(true);
    expect(experiment?.loads.map(({ arm, flow }) => `${arm}/${flow}`)).toEqual([
      "fixed-h2/trained",
      "fixed-h3/trained",
      "always-offer/trained",
      "adaptive/trained",
      "adaptive/trained-on-h2",
    ]);
    expect(experiment?.notes.join(" ")).toContain("policy-api/policies");
  });

  it.each(QUICS.flatMap((quic) => CONGESTIONS.map((congestion) => [quic, congestion] as const)))(
    "has a policy for %s beside %s, which can be put",
    (quic, congestion) => {
      const policy = parsePolicy(policyOf("adaptive", congestion, quic));
      expect(policy).toMatchObject({ ok: true, value: { mode: "adaptive" } });
      const stack = policy.ok ? policy.value.provenance?.stack : undefined;
      expect(stack).toContain(quic.split("-")[0]);
    },
  );
});

describe("sessionsOf", () => {
  it.each(FLOWS)("times exactly one session of %s", (flow) => {
    for (const arm of ["fixed-h2", "fixed-h3", "always-offer", "adaptive", "bare"] as const)
      expect(sessionsOf(flow, arm, { imageBytes: 1000 }).filter(({ timed }) => timed)).toHaveLength(1);
  });

  it.each(["resumed", "early"] as const)(
    "%s comes again over the same protocol, with what the first visit left",
    (flow) => {
      const sessions = sessionsOf(flow, "fixed-h3", { imageBytes: 1000 });
      expect(sessions.map(({ timed, firstProtocol }) => [timed, firstProtocol])).toEqual([
        [false, "h3"],
        [true, "h3"],
      ]);
      expect(resumeOf(flow)).toBe(flow === "early" ? "early-data" : "tickets");
      expect(FLOWS.filter((other) => resumeOf(other) !== undefined)).toEqual(["resumed", "early"]);
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

  it("begins on HTTP/3 in fixed-h3 alone", () => {
    expect(sessionsOf("cold", "fixed-h3", { imageBytes: 1000 })[0]?.firstProtocol).toBe("h3");
    expect(sessionsOf("cold", "always-offer", { imageBytes: 1000 })[0]?.firstProtocol).toBe("h2");
  });
});
