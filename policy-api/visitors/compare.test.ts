import { describe, expect, it } from "vitest";
import { checkGrounds, type Claim, compare, type Objection, objectionText } from "./compare.ts";
import type { Arms } from "./intervals.ts";
import type { Sums } from "./sums.ts";
import { type Drawn, drawnArms } from "./testing.ts";

const EVEN = drawnArms({ clients: 1500 }, { clients: 1500 });
const FASTER = drawnArms({ clients: 1500, saves: 0.3, overH3: 0.9 }, { clients: 1500 });

const grounds = ({ newClients = EVEN, expectedShare = 0.5 } = {}) => checkGrounds(EVEN, newClients, expectedShare);
const kinds = (objections: readonly Objection[]): string[] => objections.map(({ kind }) => kind);
const objectionsOf = (claim: Claim): string[] => (claim.kind === "none" ? kinds(claim.objections) : []);

describe("checkGrounds", () => {
  it("has nothing against an even draw", () => {
    const found = grounds();
    expect(found.objections).toEqual([]);
    expect(found.elsewhere).toBe(0);
  });

  it.each<[string, Parameters<typeof grounds>[0], string]>([
    ["a draw that is off", { expectedShare: 0.4 }, "sample-ratio"],
    [
      "new clients that use HTTP/3 without an offer",
      { newClients: drawnArms({ clients: 500 }, { clients: 500, overH3: 0.2 }) },
      "offered-elsewhere",
    ],
    ["too few new clients", { newClients: drawnArms({ clients: 500 }, { clients: 99 }) }, "too-few-new-clients"],
  ])("objects to %s", (_name, over, kind) => {
    expect(kinds(grounds(over).objections)).toEqual([kind]);
  });

  it("allows a few clients to use HTTP/3 without an offer", () => {
    const found = grounds({ newClients: drawnArms({ clients: 500 }, { clients: 3000, overH3: 0.03 }) });
    expect(found.objections).toEqual([]);
    expect(found.elsewhere).toBeGreaterThan(0);
  });
});

describe("compare", () => {
  it.each<[string, Arms<Sums>]>([
    ["faster", FASTER],
    ["slower", { offered: FASTER.withheld, withheld: FASTER.offered }],
  ])("claims that offering is %s", (kind, arms) => {
    const { claim, effect, primary } = compare(grounds(), arms);
    expect(claim.kind).toBe(kind);
    expect(Math.sign(primary?.value ?? 0)).toBe(Math.sign(effect?.gain.value ?? 0));
  });

  it.each<[string, Drawn, Drawn, string]>([
    ["few clients", { clients: 99 }, { clients: 500 }, "too-few-clients"],
    ["no difference", { clients: 500, overH3: 0.9 }, { clients: 500 }, "not-shown"],
    [
      "a difference that missing pages could have made",
      { clients: 1500, saves: 0.15, overH3: 0.9, missing: 0.4 },
      { clients: 1500, missing: 0.1 },
      "reports-differ",
    ],
  ])("claims nothing of %s", (_name, offered, withheld, kind) => {
    expect(objectionsOf(compare(grounds(), drawnArms(offered, withheld)).claim)).toEqual([kind]);
  });

  it("claims nothing where the grounds do not hold, and still shows the figures", () => {
    const { claim, effect } = compare(grounds({ expectedShare: 0.4 }), FASTER);
    expect(objectionsOf(claim)).toEqual(["sample-ratio"]);
    expect(effect?.gain.low).toBeGreaterThan(0);
  });

  it("claims with a wider interval where the arms report differently, and the effect is larger than that", () => {
    const arms = drawnArms({ clients: 3000, saves: 0.6, overH3: 1, missing: 0.15 }, { clients: 3000, missing: 0.05 });
    const { claim, effect, missing } = compare(grounds(), arms);
    expect(missing?.differs).toBe(true);
    if (claim.kind === "none") throw new Error(objectionsOf(claim).join());
    expect(claim.interval.low).toBeLessThan(effect?.gain.low ?? 0);
    expect(claim.interval.high).toBeGreaterThan(effect?.gain.high ?? 0);
  });

  it("says whether 5 % of liars could have made the effect", () => {
    const withstands = (saves: number): boolean => {
      const { claim } = compare(grounds(), drawnArms({ clients: 3000, saves, overH3: 1 }, { clients: 3000 }));
      if (claim.kind === "none") throw new Error(objectionsOf(claim).join());
      return claim.withstandsLies;
    };
    expect(withstands(0.15)).toBe(false);
    expect(withstands(0.6)).toBe(true);
  });
});

describe("objectionText", () => {
  it.each<[Objection, string]>([
    [
      { kind: "too-few-clients", clients: { offered: 7, withheld: 300 } },
      "There are 7 clients that were offered HTTP/3 and 300 that were not; each arm needs 100 whose pages reported.",
    ],
    [
      { kind: "sample-ratio", share: 0.55, expectedShare: 0.5 },
      "55.0 % of the clients were offered HTTP/3, where 50.0 % were to be: whether a client is counted depends on its arm.",
    ],
    [
      { kind: "too-few-new-clients", clients: 12 },
      "12 new clients that were not offered HTTP/3 have reported; it takes 100 to tell whether something else offers it.",
    ],
    [
      { kind: "offered-elsewhere", share: 0.2 },
      "20.0 % of the first pages of new clients that were not offered HTTP/3 came over it (more than 5.0 %): something else offers it.",
    ],
    [{ kind: "not-shown", interval: { low: -0.01, high: 0.02 } }, "The interval holds 0: -0.010 to 0.020."],
    [
      { kind: "reports-differ", missing: { offered: 0.3, withheld: 0.1 }, interval: { low: -0.1, high: 0.4 } },
      "Of those offered 30.0 % of the pages did not report, of the others 10.0 %. With what is missing the interval holds 0: -0.100 to 0.400.",
    ],
  ])("says %o", (objection, text) => {
    expect(objectionText(objection)).toBe(text);
  });
});
