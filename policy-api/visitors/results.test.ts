import { describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { EMPTY_GAINS } from "./empty-table.ts";
import { Gathered, type OutcomeRow } from "./gathered.ts";
import { propose } from "./propose.ts";
import { learningOf, resultsOf } from "./results.ts";
import { type DrawnPlace, drawnRows } from "./testing-rows.ts";

const POLICY: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: EMPTY_GAINS };
const ALL = { asked: 32, answered: 32 };

function resultsFrom(rows: readonly OutcomeRow[], policy: Policy = POLICY) {
  return resultsOf(new Gathered(3, rows), policy, ALL);
}

/** 1,000 clients an arm far away, whose pages HTTP/3 makes shorter by this; and as many near, of whose it changes nothing. */
const FAR: DrawnPlace = { rttMs: 200, clients: 1000, saves: 0.2, overH3: 0.9, asn: 64_496 };
const NEAR: DrawnPlace = { rttMs: 20, clients: 1000, saves: 0, overH3: 0.9, asn: 64_497 };

describe("resultsOf", () => {
  const results = resultsFrom(drawnRows(3, [FAR]));
  const { everyone } = results;

  it("claims what was planted, in an interval that holds it", () => {
    const { claim } = everyone.load;
    expect(claim).toMatchObject({ kind: "faster", objections: [] });
    // Nine in ten use what they are offered.
    expect(claim.interval?.low).toBeLessThan(0.18);
    expect(claim.interval?.high).toBeGreaterThan(0.18);
    expect(results.grounds.objections).toEqual([]);
    expect(results.staying?.low).toBeLessThan(0);
    expect(results.staying?.high).toBeGreaterThan(0);
  });

  it("tells each arm's figures", () => {
    const { offered: one, withheld: other } = everyone;
    expect([one.clients, other.clients]).toEqual([1000, 1000]);
    expect(one.overH3).toBeGreaterThan(0.85);
    expect(other.overH3).toBe(0);
    // Every page of these reports.
    expect(one.reported).toBe(one.counted);
    expect(one.pages).toBeGreaterThan(one.counted);
    expect(one.load?.clients).toBe(1000);
    expect(one.load?.meanMs).toBeLessThan(other.load?.meanMs ?? 0);
    expect(one.load?.p75Ms).toBeLessThan(one.load?.p99Ms ?? 0);
    expect(one.load?.meanMs).toBeLessThan(one.load?.p75Ms ?? 0);
    // These browsers tell no LCP.
    expect(one.lcp).toBeUndefined();
    expect(everyone.lcp.claim).toMatchObject({ kind: "none", objections: [{ kind: "too-few-clients" }] });
  });

  it("has a slice for each class of RTT, each cell with clients, and each autonomous system with enough", () => {
    expect(results.rttClasses.map(({ offered }) => offered.clients)).toEqual([0, 0, 0, 0, 1000]);
    expect(results.cells.map(({ position, rttMs, contentBytes }) => [position, rttMs, contentBytes])).toEqual([
      ["new", 150, 1_000_000],
      ["next", 150, 1_000_000],
    ]);
    expect(results.autonomousSystems.map(({ asn }) => asn)).toEqual([64_496]);
    const few = resultsFrom(drawnRows(3, [FAR, { ...NEAR, clients: 99 }]));
    expect([few.autonomousSystems.map(({ asn }) => asn), few.autonomousSystemsLeftOut]).toEqual([[64_496], 1]);
  });

  it("leaves out cells that the policy's table does not have", () => {
    expect(resultsFrom(drawnRows(3, [FAR]), INITIAL_POLICY).cells).toEqual([]);
    const table = { ...EMPTY_GAINS.table, rttMs: [3, 20] };
    expect(resultsFrom(drawnRows(3, [FAR]), { ...POLICY, method: { ...EMPTY_GAINS, table } }).cells).toEqual([]);
  });

  it("does not claim of a slice whose arms are uneven, as what comes to it may depend on the arm", () => {
    const rows = drawnRows(3, [FAR]).filter(({ key }) => key !== "rtt/4");
    const uneven = drawnRows(3, [{ ...FAR, withheld: 500 }]).filter(({ key }) => key === "rtt/4");
    const { rttClasses, everyone: all } = resultsFrom([...rows, ...uneven]);
    expect(all.load.claim.kind).toBe("faster");
    expect(rttClasses[4]?.load.claim).toMatchObject({ kind: "none", objections: [{ kind: "sample-ratio" }] });
  });
});

describe("Gathered", () => {
  it("adds all rows of an object, or none", () => {
    const gathered = new Gathered(3);
    const [row] = drawnRows(3, [FAR]) as [OutcomeRow];
    const other = { ...row, sums: undefined } as unknown as OutcomeRow;
    expect(() => gathered.add([row, other])).toThrow(TypeError);
    expect(gathered.keys).toEqual([]);
  });

  const rows = drawnRows(3, [{ ...FAR, clients: 150 }]);

  it("merges rows of several objects as if one object had them", () => {
    const other = drawnRows(3, [{ ...NEAR, clients: 150 }]);
    const merged = new Gathered(3, [...rows, ...other]);
    const apart = new Gathered(3, rows);
    apart.add(other);
    expect(apart).toEqual(merged);
    expect(Number(merged.of("all").offered.sums.assigned.clients)).toBe(300);
    expect(merged.keys).toEqual([...new Set([...rows, ...other].map(({ key }) => key))]);
  });
});

describe("the sentence", () => {
  const said = (...places: DrawnPlace[]): string => resultsFrom(drawnRows(3, places)).sentence;

  it("says what was shown, by RTT", () => {
    expect(said(FAR, NEAR)).toMatch(
      /^In all, offering HTTP\/3 saves \d+ to \d+ % of the load time; for visitors with an RTT from 150 ms on it saves \d+ to \d+ %; nothing can be said yet of those under 150 ms as a whole\.$/,
    );
  });

  it("joins neighbours that say the same", () => {
    const sentence = said(FAR, { ...FAR, rttMs: 100, saves: 0.3 }, { ...NEAR, rttMs: 5 });
    expect(sentence).toMatch(/for visitors with an RTT from 80 ms on it saves \d+ to \d+ %/);
    expect(sentence).toMatch(/; nothing can be said yet of those under 80 ms as a whole\.$/);
  });

  it("says where HTTP/3 is slower, and names each range about which nothing can be said", () => {
    const sentence = said({ ...FAR, rttMs: 20, saves: -0.4 }, FAR);
    expect(sentence).toMatch(
      /for visitors with an RTT from 10 to 30 ms (it|offering HTTP\/3) makes pages take \d+ to \d+ % longer/,
    );
    expect(sentence).toMatch(
      /; nothing can be said yet of those under 10 ms or of those from 30 to 150 ms as a whole\.$/,
    );
  });

  it.each<[string, DrawnPlace[], RegExp]>([
    ["no clients", [], /^Nothing can be said yet: this version has no clients that were drawn\.$/],
    ["few clients", [{ ...FAR, clients: 50 }], /^Nothing can be said yet: 50 new clients .* it takes 100 /],
    [
      "HTTP/3 among new clients that were not offered it",
      [{ ...FAR, withheldOverH3: 0.3 }],
      /^Nothing may be claimed: \d+\.\d % of the first pages of new clients .*: something else offers it\.$/,
    ],
    [
      "arms that are uneven",
      [{ ...FAR, withheld: 500 }],
      /^Nothing may be claimed: 66\.7 % of the clients were offered HTTP\/3, where 50\.0 % were to be: /,
    ],
    [
      "no difference",
      [NEAR],
      /^Nothing can be said yet: offering HTTP\/3 may save anything from -\d+\.\d to \d+\.\d % of the load time\.$/,
    ],
  ])("claims nothing of %s", (_name, places, sentence) => {
    expect(said(...places)).toMatch(sentence);
  });

  it("says so if no object answered", () => {
    const results = resultsOf(new Gathered(3), POLICY, { asked: 32, answered: 0 });
    expect(results.sentence).toBe("Nothing can be said: none of the store's objects answered.");
  });
});

describe("learningOf", () => {
  it("gives what propose needs: a table that goes towards what was planted", () => {
    const proposal = propose(learningOf(new Gathered(3, drawnRows(3, [FAR])), POLICY, null));
    if (proposal.kind !== "proposed") throw new Error(proposal.kind);
    const next = proposal.changes.find(
      ({ part, lossRatio, clients }) => clients > 0 && part === "next" && lossRatio === 0,
    );
    expect(next).toMatchObject({ rttMs: 150, before: 0 });
    expect(next?.after).toBeGreaterThan(0.1);
    expect(next?.after).toBeLessThan(0.3);
    expect(proposal.turned).toMatchObject([{ rttMs: 150, answer: "offer", share: 1 }]);
  });

  it("has nothing for propose without clients, and without a table", () => {
    expect(propose(learningOf(new Gathered(3), POLICY, null)).kind).toBe("not-comparable");
    expect(propose(learningOf(new Gathered(3), INITIAL_POLICY, null)).kind).toBe("no-gain-table");
  });
});
