import { expect, it } from "vitest";
import { exampleInput, exampleLoads, exampleOptions, reportOf } from "../../harness/loads/testing.ts";
import { ARM_SETUPS } from "../../model/arm.ts";
import type { LoadRow } from "../../model/load-row.ts";
import { experiment } from "./experiment.ts";
import { verdictOf } from "./findings.ts";

const planned = experiment.definition.plan(exampleOptions("--congestion", "cubic"));
const six = planned.cells.filter(({ id }) => id === "6-cubic");

function visits(arm: LoadRow["arm"], secondMs: number, lastProtocol: "h2" | "h3"): LoadRow[] {
  return six
    .flatMap((cell) => exampleLoads(cell, arm, "second-visit", 1000 + secondMs, { lastProtocol }))
    .map((row, i) => ({ ...row, pagesMs: `1000;${secondMs * (i % 2 === 0 ? 1.01 : 0.99)}` }));
}
const faster = [...visits("fixed-h2", 2000, "h2"), ...visits("always-offer", 1000, "h3")];

async function reportFor(rows: readonly LoadRow[]): Promise<string> {
  const input = exampleInput({ ...planned, cells: six }, [...faster, ...rows]);
  const { markdown } = await reportOf("cloudflare-visits", experiment, input);
  return markdown;
}

it("lets pages report to a worker that sees what Cloudflare's see", () => {
  expect(planned.cells).toHaveLength(9);
  expect(Object.keys(planned.rounds ?? {})).toEqual(planned.cells.map(({ id }) => id));
  expect(ARM_SETUPS["as-cloudflare"]).toMatchObject({ mode: "adaptive", reports: "asked", asCloudflare: true });
});

it("says what is lost where the edge counts nothing", async () => {
  const same = await reportFor([...visits("adaptive", 1000, "h3"), ...visits("as-cloudflare", 1010, "h3")]);
  expect(same).toContain("**1 of 1 networks are within it.**");
  expect(same).toContain("regret is 0.0 % by what the own edge counts, and 0.0 % by what Cloudflare");
  const worse = await reportFor([...visits("adaptive", 1000, "h3"), ...visits("as-cloudflare", 2000, "h2")]);
  expect(worse).toContain("**0 of 1 networks are within it.**");
  expect(worse).toMatch(
    /\| +10 of 10 \| +100\.0 % \| +100\.0 % \| 100\.0 %, at most 10\d\.\d % \| +\*\*breaks it\*\* \|/,
  );
});

it("says where too few visits count", async () => {
  const few = visits("as-cloudflare", 1000, "h3").slice(0, 2);
  expect(await reportFor([...visits("adaptive", 1000, "h3"), ...few])).toContain("too few loads");
});

it("promises nothing where no protocol is faster", () => {
  expect(verdictOf({ isTie: true, more: 0.5 })).toBe("tie");
  expect(verdictOf({ isTie: false, more: 0.009 })).toBe("within the bound");
  expect(verdictOf({ isTie: false, more: 0.011 })).toBe("**breaks it**");
});
