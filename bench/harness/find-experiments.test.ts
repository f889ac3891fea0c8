import { describe, expect, it } from "vitest";
import { parsePolicy } from "../../policy-api/decision/policy.ts";
import { policyOf } from "../lab/worker.ts";
import { QUICS } from "../model/arm.ts";
import { CONGESTIONS } from "../model/congestion.ts";
import type { LoadsExperiment } from "./loads/define.ts";
import { exampleOptions } from "./loads/testing.ts";
import { listExperiments, loadExperiment } from "./run.ts";

const found = listExperiments();
const experiments = await Promise.all(
  [...found.keys()].map(async (name) => [name, await loadExperiment(name)] as const),
);
const made = experiments.flatMap(([name, experiment]) =>
  "definition" in experiment ? [[name, (experiment as LoadsExperiment<object>).definition] as const] : [],
);
const planOf = (name: string, ...args: string[]) =>
  made.find(([known]) => known === name)?.[1].plan(exampleOptions(...args));

it("finds every folder's experiment", () => {
  expect(made.map(([name]) => name)).toEqual(
    expect.arrayContaining([
      "bandwidth-limits",
      "clients",
      "latency-sweep",
      "ohashi-evaluation",
      "ohashi-grid",
      "senders",
      "smoke",
      "stacks",
      "tcp-congestion",
    ]),
  );
  for (const about of found.values()) expect(about).not.toBe("");
});

describe.each(made)("%s", (name) => {
  it.each([["--quick"], ["--full"], []])("is data that makes sense (%s)", (...flags: string[]) => {
    const experiment = planOf(name, ...flags);
    if (experiment === undefined) throw new Error(`There is no ${name}.`);
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
  expect(planOf("ohashi-grid")?.cells).toHaveLength(360);
});

it("the evaluation numbers its networks as published: loss first, then delay", () => {
  const { cells } = planOf("ohashi-evaluation", "--congestion", "cubic") ?? { cells: [] };
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
  const experiment = planOf("ohashi-evaluation", "--quic", "quiche-bbr2");

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
