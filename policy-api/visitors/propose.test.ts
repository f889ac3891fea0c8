import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GainTable } from "../decision/gain-table.ts";
import { INITIAL_POLICY, parsePolicy, type Policy } from "../decision/policy.ts";
import { checkGrounds } from "./compare.ts";
import { EMPTY_GAINS } from "./empty-table.ts";
import type { CellEvidence } from "./learn.ts";
import { type Learning, type Proposal, propose } from "./propose.ts";
import type { Cell } from "./row-keys.ts";
import type { Stack } from "../decision/stack.ts";
import { drawnArms } from "./testing.ts";

const POLICY: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: EMPTY_GAINS, source: "empty" };
const EVEN = drawnArms({ clients: 500 }, { clients: 500 });
const GROUNDS = checkGrounds(EVEN, EVEN, 0.5);

/** What a cell says: what those save who changed, of nine in ten clients. In each arm so many clients. */
function evidence(
  cell: Cell,
  saves: number,
  { clients = 1000, overH3 = 0.9, seed = 1, missing = 0 } = {},
): CellEvidence {
  return { cell, arms: drawnArms({ clients, saves, overH3, seed, missing }, { clients, seed: seed + 1 }) };
}

const LEARNING: Learning = {
  version: 7,
  policy: POLICY,
  grounds: GROUNDS,
  evidence: [],
  clients: 2000,
  change: undefined,
  stack: null,
};
const learnt = (
  given: readonly CellEvidence[],
  policy: Policy = POLICY,
  grounds: Learning["grounds"] = GROUNDS,
): Proposal => propose({ ...LEARNING, policy, grounds, evidence: given });

function proposed(given: readonly CellEvidence[], policy: Policy = POLICY) {
  const proposal = learnt(given, policy);
  if (proposal.kind !== "proposed") throw new Error(proposal.kind);
  const { method } = proposal.policy;
  if (method?.kind !== "gains") throw new Error("No gains.");
  return { ...proposal, table: method.table };
}

const AT_ONE = { value: 0.1, se: 0.01, low: 0.05, high: 0.15 };
const CHANGE: Learning["change"] = { sinceMs: 0, rttClass: 2, before: AT_ONE, since: { ...AT_ONE, value: -0.1 } };
const NEXT: Cell = { position: "next", rtt: 2, size: 1, loss: 0 };
const gainAt = ({ next }: GainTable, { size, loss = 0, rtt }: Cell = NEXT): number =>
  next.gain[size]?.[loss]?.[rtt] ?? 0;
const seAt = ({ next }: GainTable, { size, loss = 0, rtt }: Cell = NEXT): number => next.se[size]?.[loss]?.[rtt] ?? 0;

describe("propose", () => {
  it("finds what was planted, and says what changed", () => {
    const { table, changes, clients } = proposed([evidence(NEXT, 0.3)]);
    expect(Math.abs(gainAt(table) - 0.3)).toBeLessThan(3 * seAt(table));
    expect(seAt(table)).toBeLessThan(0.05);
    expect(clients).toBe(2000);
    const said = changes.find(
      ({ part, rttMs, contentBytes, lossRatio }) =>
        [part, rttMs, contentBytes, lossRatio].join() === "next,60,1000000,0",
    );
    expect(said).toEqual({
      part: "next",
      rttMs: 60,
      contentBytes: 1_000_000,
      lossRatio: 0,
      before: 0,
      after: gainAt(table),
      se: seAt(table),
      clients: 2000,
      text: `At 60 ms and 1000000 bytes with 0 % loss a next page's gain becomes ${gainAt(table)} (se ${seAt(table)}), which was 0, by the pages of 2000 clients there, and of places near it.`,
    });
  });

  it("learns of other places too, less the farther they are, and stays less sure of them", () => {
    const { table, changes } = proposed([evidence(NEXT, 0.3)]);
    const by = (over: Partial<Cell>) => ({
      gain: gainAt(table, { ...NEXT, ...over }),
      se: seAt(table, { ...NEXT, ...over }),
    });
    const [here, near, far] = [by({}), by({ rtt: 3 }), by({ rtt: 3, size: 2 })];
    expect(here.gain).toBeGreaterThan(near.gain);
    expect(near.gain).toBeGreaterThan(far.gain);
    expect(far.gain).toBeGreaterThan(0.05);
    expect(here.se).toBeLessThan(near.se);
    expect(near.se).toBeLessThan(far.se);
    const other = changes.find(({ part, rttMs }) => part === "return" && rttMs === 60);
    expect(other).toMatchObject({ clients: 0, text: expect.stringContaining("by pages of places near it.") });
    // The price is another thing.
    expect(table.price).toEqual(EMPTY_GAINS.table.price);
  });

  it("is the surer the more clients there are, and right at any number of them", () => {
    const at = [100, 1_000, 10_000].map((clients) => proposed([evidence(NEXT, 0.3, { clients })]).table);
    const errors = at.map((table) => seAt(table));
    expect(errors).toEqual(errors.toSorted((a, b) => b - a));
    for (const table of at) expect(Math.abs(gainAt(table) - 0.3)).toBeLessThan(3 * seAt(table));
  });

  it("puts many small cells together", () => {
    const small = [0, 1, 2, 3, 4].flatMap((rtt) =>
      [0, 1, 2].map((size) =>
        evidence({ position: "next", rtt, size, loss: 0 }, 0.3, { clients: 30, seed: 10 * rtt + 3 * size }),
      ),
    );
    const one = proposed(small.slice(0, 1).map(({ cell }) => evidence(cell, 0.3, { clients: 100 })));
    const { table } = proposed(small);
    expect(Math.abs(gainAt(table) - 0.3)).toBeLessThan(3 * seAt(table));
    expect(seAt(table)).toBeLessThan(seAt(one.table));
  });

  it("spreads evidence of an unknown loss by the policy's mix", () => {
    const { table } = proposed([evidence({ position: "return", rtt: 0, size: 0 }, 0.3)]);
    const column = table.return.gain[0]?.map((rtts) => rtts[0] ?? 0) ?? [];
    const ses = table.return.se[0]?.map((rtts) => rtts[0] ?? 0) ?? [];
    // Together they gain what was seen; of the rare losses less is known.
    const mixed = column.reduce((sum, gain, loss) => sum + gain * (EMPTY_GAINS.mix[loss] ?? 0), 0);
    expect(mixed).toBeGreaterThan(0.25);
    expect(mixed).toBeLessThan(0.35);
    expect(ses.at(-1)).toBeGreaterThan(ses[0] ?? 0);
  });

  it("learns the price of an offer from new clients' first pages, by assignment alone", () => {
    const { table, changes } = proposed([evidence({ position: "new", rtt: 1, size: 1 }, -0.1, { overH3: 1 })]);
    expect(table.price[1]).toBeGreaterThan(0.05);
    expect(table.price[1]).toBeLessThan(0.15);
    expect(table.next).toMatchObject({ gain: EMPTY_GAINS.table.next.gain });
    expect(changes.map(({ part, text }) => [part, text])).toContainEqual([
      "price",
      expect.stringMatching(/^At 20 ms the price of an offer becomes 0\.\d+ /),
    ]);
  });

  it("counts what missing reports can have done as an error that all cells of a position share", () => {
    const cells = (missing: number) => [
      ...[1, 2, 3].map((rtt) => evidence({ ...NEXT, rtt }, 0.3, { seed: rtt, missing })),
      // Of first pages, which come over TCP in both arms, as many report.
      ...[1, 2, 3].map((rtt) => evidence({ position: "new", rtt, size: 1 }, 0, { seed: rtt })),
    ];
    const [sure, unsure] = [proposed(cells(0)), proposed(cells(0.15))];
    expect(gainAt(unsure.table)).toBeLessThan(0.9 * gainAt(sure.table));
    expect(seAt(unsure.table)).toBeGreaterThan(4 * seAt(sure.table));
    expect(unsure.table.priceSe).toEqual(sure.table.priceSe);
  });

  it("takes a table with an RTT of 0", () => {
    const table = { ...EMPTY_GAINS.table, rttMs: [0, 20, 60, 150, 300] };
    const { changes } = proposed([evidence(NEXT, 0.3)], { ...POLICY, method: { ...EMPTY_GAINS, table } });
    expect(changes.every(({ after, se }) => Number.isFinite(after) && Number.isFinite(se))).toBe(true);
  });

  it("is not less sure of a learnt table's places than they were, and not surer than stacks are alike", () => {
    const before = proposed([evidence(NEXT, 0.3)]);
    const after = proposed([evidence(NEXT, 0.3, { seed: 5 })], before.policy);
    const far: Cell = { position: "next", rtt: 4, size: 0, loss: 5 };
    expect(seAt(after.table, far)).toBeLessThanOrEqual(seAt(before.table, far));
  });

  it("switches nothing: all but the table and its source is as it was", () => {
    const { policy } = proposed([evidence(NEXT, 0.3)]);
    const { method: _, source, ...others } = policy;
    const { method: __, source: ___, ...before } = POLICY;
    expect(others).toEqual(before);
    expect(source).toBe("Learnt from outcomes of version 7. Before: empty");
  });

  it("drops the provenance: the table cannot be made again from its rows. Where it is known, it names the stack that serves", () => {
    const provenance = {
      stack: "a",
      congestionControl: "cubic",
      command: "b",
      rowsSha256: "0".repeat(64),
      loads: 1,
      cells: 1,
    };
    const policy: Policy = { ...POLICY, provenance };
    expect(proposed([evidence(NEXT, 0.3)], policy).policy.provenance).toBeUndefined();
    const on = (stack: Stack) => propose({ ...LEARNING, policy, evidence: [evidence(NEXT, 0.3)], stack });
    const taught = { stack: "the server of version 7's visitors", command: "npm run policy -- propose 7" };
    const [bbr, withoutH3] = [on({ tcp: "bbr", quic: "quic-go" }), on({ tcp: "bbr", quic: null })];
    expect(bbr).toMatchObject({ policy: { provenance: { ...taught, congestionControl: "bbr", quic: "quic-go" } } });
    expect(withoutH3.kind === "proposed" && withoutH3.policy.provenance).toEqual({
      ...taught,
      congestionControl: "bbr",
    });
    const pushed = bbr.kind === "proposed" && parsePolicy(JSON.parse(JSON.stringify(bbr.policy)));
    expect(pushed).toMatchObject({ ok: true });
  });

  it("is always a policy that can be pushed", () => {
    const anyCell = fc.record(
      {
        position: fc.constantFrom("new" as const, "next" as const, "return" as const),
        rtt: fc.nat(4),
        size: fc.nat(2),
        loss: fc.nat(5),
      },
      { requiredKeys: ["position", "rtt", "size"] },
    );
    const any = fc
      .tuple(anyCell, fc.double({ min: -6, max: 6, noNaN: true }), fc.integer({ min: 1, max: 200 }), fc.nat(9))
      .map(([cell, saves, clients, seed]) => evidence(cell, saves, { clients, seed }));
    fc.assert(
      fc.property(fc.array(any, { maxLength: 5 }), (given) => {
        const proposal = learnt(given, { ...POLICY, source: "x".repeat(1000) });
        if (proposal.kind === "proposed")
          expect(parsePolicy(JSON.parse(JSON.stringify(proposal.policy)))).toMatchObject({ ok: true });
        else expect(proposal.kind).toBe("no-evidence");
      }),
      { numRuns: 40 },
    );
  });

  it.each<[string, Proposal]>([
    ["no-gain-table", learnt([evidence(NEXT, 1)], { ...POLICY, method: { kind: "share", share: 0.5 } })],
    ["no-gain-table", learnt([evidence(NEXT, 1)], INITIAL_POLICY)],
    ["changed", propose({ ...LEARNING, change: CHANGE })],
    ["no-evidence", learnt([])],
    ["no-evidence", learnt([evidence(NEXT, 1, { clients: 50 })])],
    ["no-evidence", learnt([evidence(NEXT, 1, { overH3: 0.01 })])],
    ["not-comparable", learnt([evidence(NEXT, 1)], POLICY, checkGrounds(EVEN, EVEN, 0.3))],
  ])("proposes nothing: %s", (kind, proposal) => {
    expect(proposal.kind).toBe(kind);
  });
});

describe("the expected gain", () => {
  const everyLoss = (position: "next" | "return", saves: number): CellEvidence =>
    evidence({ position, rtt: 2, size: 1 }, saves, { clients: 4000 });
  const traffic = evidence({ position: "new", rtt: 2, size: 1 }, 0);

  it("is nothing where no answer turns", () => {
    const expectation = proposed([everyLoss("next", -0.3), traffic]);
    expect(expectation).toMatchObject({ gain: { value: 0, se: 0, low: 0, high: 0 }, turned: [] });
  });

  it("is what the pages that change save, for each page view", () => {
    const expectation = proposed([everyLoss("next", 0.3), everyLoss("return", 0.3), traffic]);
    expect(expectation.turned).toEqual([{ rttMs: 60, contentBytes: 1_000_000, share: 1, answer: "offer" }]);
    // 1.3 of 2.3 pages of a visit come after the first, and a few returns.
    expect(expectation.gain.value).toBeGreaterThan(0.1);
    expect(expectation.gain.value).toBeLessThan(0.3);
    expect(expectation.gain.low).toBeGreaterThan(0);
    expect(expectation.gain.high).toBeGreaterThan(expectation.gain.value);
  });

  it("counts an offer that ends as a gain too, if HTTP/3 is slower", () => {
    const old = proposed([everyLoss("next", 0.3), everyLoss("return", 0.3), traffic]).policy;
    const expectation = proposed([everyLoss("next", -0.5), everyLoss("return", -0.5), traffic], old);
    expect(expectation.turned.map(({ answer }) => answer)).toEqual(["withhold"]);
    expect(expectation.gain.value).toBeGreaterThan(0);
  });

  it("weighs places by how many new clients come to them", () => {
    const elsewhere = evidence({ position: "new", rtt: 0, size: 0 }, 0, { clients: 3000 });
    const slower = (["next", "return"] as const).map((position) => evidence({ position, rtt: 0, size: 0 }, -0.3));
    const expectation = proposed([everyLoss("next", 0.3), everyLoss("return", 0.3), traffic, elsewhere, ...slower]);
    expect(expectation.turned.map(({ share }) => share)).toEqual([0.25]);
  });
});
