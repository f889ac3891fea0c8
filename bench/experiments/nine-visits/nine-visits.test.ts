import { expect, it } from "vitest";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { experiment } from "./experiment.ts";
import { shown } from "./experiment.ts";

const planned = experiment.definition.plan(exampleOptions("--congestion", "cubic"));
const six = planned.cells.filter(({ id }) => id === "6-cubic");

function visits(arm: LoadRow["arm"], secondMs: number, lastProtocol: "h2" | "h3"): LoadRow[] {
  return six
    .flatMap((cell) => exampleLoads(cell, arm, "visit-after-h2", 1000 + secondMs, { lastProtocol }))
    .map((row, i) => ({ ...row, pagesMs: `1000;${secondMs * (i % 2 === 0 ? 1.01 : 0.99)}` }));
}
const fixed = [...visits("fixed-h2", 2000, "h2"), ...visits("always-offer", 1000, "h3")];

async function tableOf(adaptive: readonly LoadRow[]): Promise<string> {
  const input = exampleInput({ ...planned, cells: six }, [...fixed, ...adaptive]);
  const { markdown } = await reportOf("nine-visits", experiment, input);
  return markdown.split("\n").find((line) => line.startsWith("| 6 ")) ?? "";
}

it("follows offers as browsers do, and asks for nothing that an arm does not do", () => {
  expect(planned.switch).toBeUndefined();
  expect(planned.cells).toHaveLength(9);
  expect(Object.keys(planned.rounds ?? {})).toEqual(planned.cells.map(({ id }) => id));
});

it("says that decisions for the faster protocol are within the bound, and what those for the other one cost", async () => {
  const right = await tableOf(visits("adaptive", 1010, "h3"));
  expect(right).toContain("| 0 of 10 |");
  expect(right).toContain("within the bound");
  const wrong = await tableOf(visits("adaptive", 2000, "h2"));
  expect(wrong).toMatch(/\| +10 of 10 \| +100\.0 %, at most 10\d\.\d % \| +100\.0 % \|/);
  expect(wrong).toContain("**breaks it**");
});

it("says where too few visits count", async () => {
  expect(await tableOf(visits("adaptive", 1010, "h3").slice(0, 3))).toContain("too few loads");
});

it("promises 3 %, or three standard errors, and nothing where no protocol is faster", () => {
  const excess = (estimate: number, upper95: number) => ({ estimate, upper95 });
  expect(shown(excess(0.02, 0.029), false)).toBe("within the bound");
  expect(shown(excess(0.01, 0.1), false)).toBe("within the errors");
  expect(shown(excess(0.025, 0.04), false)).toBe("breaks it");
  expect(shown(excess(0.5, 0.6), true)).toBe("tie");
});
