import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "../decision/parse.ts";
import { NOON_MS } from "../decision/testing.ts";
import {
  addDecision,
  addOutcome,
  type AssignedClient,
  CLIENT_KEYS_MAX,
  readAssignedClient,
} from "./assigned-client.ts";
import type { ExpectedTimes } from "./expected-time.ts";
import { outcomeOf, type PageDecision, type PageOutcome } from "./page-outcome.ts";
import { periodKey } from "./row-keys.ts";
import { pageDecision, pageReport } from "./testing-pages.ts";

const EXPECTED: ExpectedTimes = { loadMs: 1000, lcpMs: 800 };
const decision = (over: Partial<PageDecision> = {}) =>
  pageDecision({ arm: "offer", position: "next", place: { rtt: 3, size: 1 }, ...over });
/** Of the class of RTT in which these pages are. */
const DURING = periodKey(decision().period, 2);
const outcome = (over: Partial<PageDecision> = {}, said: Partial<PageOutcome> = {}): PageOutcome => ({
  ...outcomeOf(decision(over), pageReport({ loadMs: 700, lcpMs: 500 }), { transport: "tcp" }),
  ...said,
});
const decidedOf = (client: AssignedClient | undefined) =>
  Object.fromEntries(Object.entries(client?.rows ?? {}).map(([key, day]) => [key, day.decided]));
const pagesOf = (client: AssignedClient | undefined) =>
  Object.fromEntries(Object.entries(client?.rows ?? {}).map(([key, day]) => [key, day.load.pages]));

describe("addDecision", () => {
  it("counts a page under each of its keys", () => {
    const client = addDecision(undefined, decision(), 64_500);
    expect(client).toMatchObject({ version: 3, arm: "offer", atMs: NOON_MS, period: decision().period });
    expect(decidedOf(client)).toEqual({ all: 1, "rtt/2": 1, [DURING]: 1, "next/3/1/-": 1, "asn/64500": 1 });
    const twice = addDecision(client, decision({ position: "return", place: { rtt: 3, size: 1, loss: 2 } }), undefined);
    expect(decidedOf(twice)).toEqual({
      all: 2,
      "rtt/2": 2,
      [DURING]: 1,
      "next/3/1/-": 1,
      "return/3/1/2": 1,
      "asn/64500": 1,
    });
  });

  it("keeps a client in the class of its first page's RTT, whatever is measured over the protocol that it uses then", () => {
    const held = addDecision(undefined, decision({ rttMs: 40 }), undefined);
    const later = addDecision(held, decision({ rttMs: 200, transport: "quic" }), undefined);
    expect(decidedOf(later)).toMatchObject({ "rtt/2": 2 });
    expect(decidedOf(later)).not.toHaveProperty("rtt/4");
    const told = addOutcome(later, outcome({ rttMs: 200, transport: "quic" }), EXPECTED, undefined).client;
    expect(pagesOf(told)).toMatchObject({ "rtt/2": 1 });
  });

  it("keeps a client at the table's RTT of its first page, and at the first loss that is known", () => {
    const at = (rtt: number, loss?: number): Partial<PageDecision> => ({
      place: { rtt, size: 1, ...(loss === undefined ? {} : { loss }) },
    });
    const first = addDecision(undefined, decision({ ...at(0), position: "new" }), undefined);
    const second = addDecision(first, decision(at(1, 2)), undefined);
    const third = addDecision(second, decision({ ...at(2, 4), transport: "quic" }), undefined);
    expect(decidedOf(third)).toEqual({ all: 3, "rtt/2": 3, [DURING]: 2, "new/0/1/-": 1, "next/0/1/2": 2 });
    // Reports come later, in any order.
    const late = addOutcome(third, outcome({ ...at(0), position: "new" }), EXPECTED, undefined).client;
    const told = addOutcome(late, outcome({ ...at(2, 4), transport: "quic" }), EXPECTED, undefined).client;
    expect(pagesOf(told)).toEqual({ all: 2, "rtt/2": 2, [DURING]: 1, "new/0/1/-": 1, "next/0/1/2": 1 });
    expect(parse(readAssignedClient, JSON.parse(JSON.stringify(told)))).toEqual({ ok: true, value: told });
  });

  it("takes the first RTT that is known, and a new one in a new period", () => {
    const unknown = addDecision(undefined, decision({ rttMs: undefined }), undefined);
    const known = addDecision(unknown, decision({ rttMs: 200 }), undefined);
    expect(known).toMatchObject({ rttMs: 200, rows: { "rtt/4": { decided: 1 } } });
    expect(addDecision(known, decision({ period: decision().period + 1, rttMs: 5 }), undefined)).toMatchObject({
      rttMs: 5,
    });
  });

  it("counts a page under its country too, with its report", () => {
    const client = addDecision(undefined, decision(), 64_500, "JP");
    expect(decidedOf(client)).toMatchObject({ "asn/64500": 1, "country/JP": 1 });
    expect(pagesOf(addOutcome(client, outcome(), EXPECTED, 64_500, "JP").client)).toMatchObject({ "country/JP": 1 });
    expect(parse(readAssignedClient, JSON.parse(JSON.stringify(client)))).toEqual({ ok: true, value: client });
    expect(Object.keys(addDecision(undefined, decision(), undefined, "XX")?.rows ?? {}).join()).not.toContain("XX");
  });

  it("leaves out the keys of what nobody knows", () => {
    expect(decidedOf(addDecision(undefined, decision({ rttMs: undefined, place: undefined }), undefined))).toEqual({
      all: 1,
    });
  });

  it.each([
    ["no drawn arm", { arm: "policy" }],
    ["unknown place", { position: "unknown" }],
  ] as const)("does not change by a page of %s", (_name, over) => {
    const held = addDecision(undefined, decision(), 1);
    for (const before of [undefined, held])
      expect(addDecision(before, decision({ ...over, period: 1e6 }), 1)).toBe(before);
  });

  it.each([
    ["period", { period: decision().period + 1 }],
    ["version", { policyVersion: 4 }],
    ["arm", { arm: "withhold" }],
  ] as const)("begins anew with another %s", (_name, over) => {
    const held = addDecision(undefined, decision(), undefined);
    const client = addDecision(held, decision({ ...over, atMs: NOON_MS + 1 }), undefined);
    expect(decidedOf(client)).toEqual({ all: 1, "rtt/2": 1, [periodKey(client?.period ?? 0, 2)]: 1, "next/3/1/-": 1 });
    expect(client).toMatchObject({ atMs: NOON_MS + 1 });
  });

  it.each([
    ["an earlier period", { period: decision().period - 1, atMs: NOON_MS + 1 }],
    ["an earlier page's version", { policyVersion: 2, atMs: NOON_MS - 1 }],
  ])("does not go back to %s, of which news comes late", (_name, over) => {
    const held = addDecision(undefined, decision(), undefined);
    expect(addDecision(held, decision(over), undefined)).toBe(held);
  });

  it("only begins the period with a page of an earlier draw", () => {
    const begun = addDecision(undefined, decision({ position: "redrawn" }), 1);
    expect(begun).toMatchObject({ period: decision().period, atMs: NOON_MS, rows: {} });
    const held = addDecision(begun, decision({ atMs: NOON_MS + 5 }), undefined);
    expect(decidedOf(held)).toMatchObject({ all: 1 });
    // Two pages at a time: the other one counts in no arm either, and nothing is lost by it.
    const again = addDecision(held, decision({ position: "redrawn", atMs: NOON_MS + 1 }), 1);
    expect(again).toEqual(held);
  });

  it("keeps a bounded number of keys, those that came first", () => {
    let client: AssignedClient | undefined;
    for (let asn = 0; asn < 100; asn++) client = addDecision(client, decision(), asn);
    expect(Object.keys(client?.rows ?? {})).toHaveLength(CLIENT_KEYS_MAX);
    expect(decidedOf(client)).toMatchObject({ all: 100, "rtt/2": 100, "next/3/1/-": 100, "asn/0": 1 });
    expect(decidedOf(client)).not.toHaveProperty("asn/99");
  });
});

describe("addOutcome", () => {
  const held = addDecision(undefined, decision(), 64_500);

  it("adds the times to the rows of the page's decision", () => {
    const { client, times } = addOutcome(held, outcome(), EXPECTED, 64_500);
    expect(pagesOf(client)).toEqual({ all: 1, "rtt/2": 1, [DURING]: 1, "next/3/1/-": 1, "asn/64500": 1 });
    expect(client?.rows["all"]).toMatchObject({ decided: 1, load: { overH3: 0 }, lcp: { pages: 1 } });
    expect(times).toEqual({ keys: ["all", "rtt/2", "next/3/1/-", "asn/64500"], loadMs: 700, lcpMs: 500 });
  });

  it("tells HTTP/3 by the protocol of the document", () => {
    const client = addOutcome(held, outcome({ transport: "quic" }), EXPECTED, undefined).client;
    expect(client?.rows["all"]?.load.overH3).toBe(1);
  });

  it.each([
    ["of another period", { period: 7 }, {}],
    ["of another version", { policyVersion: 4 }, {}],
    ["of the other arm", { arm: "withhold" }, {}],
    ["by the policy", { arm: "policy" }, {}],
    ["of an earlier draw", { position: "redrawn" }, {}],
    ["of unknown place", { position: "unknown" }, {}],
    ["that the visitor left", {}, { loadMs: undefined, leftMs: 5_400 }],
    ["without a time", {}, { loadMs: 0 }],
  ] as const)("changes nothing by a page %s", (_name, over, said) => {
    expect(addOutcome(held, outcome(over, said), EXPECTED, 64_500)).toEqual({ client: held });
  });

  it("adds nothing where no page was decided about", () => {
    expect(addOutcome(undefined, outcome(), EXPECTED, 1)).toEqual({ client: undefined });
    const client = addOutcome(held, outcome({ position: "new", place: { rtt: 0, size: 0 } }), EXPECTED, 7).client;
    expect(pagesOf(client)).toEqual({ all: 1, "rtt/2": 1, [DURING]: 0, "next/3/1/-": 0, "asn/64500": 0 });
    expect(addOutcome(client, outcome(), EXPECTED, undefined).times?.keys).toEqual(["next/3/1/-"]);
  });

  it("gives the first pages of a client to the sketches, under each key as many as count there", () => {
    let client: AssignedClient | undefined;
    const given: string[] = [];
    for (let page = 0; page < 4; page++) {
      const asn = page < 3 ? 1 : 2;
      const added = addOutcome(addDecision(client, decision(), asn), outcome(), EXPECTED, asn);
      client = added.client;
      given.push((added.times?.keys ?? []).join(" "));
    }
    expect(given).toEqual(["all rtt/2 next/3/1/- asn/1", "all rtt/2 next/3/1/- asn/1", "", "asn/2"]);
  });
});

describe("readAssignedClient", () => {
  const page = fc.record({
    position: fc.constantFrom("redrawn", "new", "next", "return"),
    place: fc.option(fc.record({ rtt: fc.nat(19), size: fc.nat(19) }), { nil: undefined }),
    rttMs: fc.option(fc.nat(500), { nil: undefined }),
    arm: fc.constantFrom("offer", "withhold"),
    transport: fc.constantFrom("tcp", "quic"),
    atMs: fc.integer({ min: NOON_MS, max: NOON_MS + 1e6 }),
  });

  it("reads back what was added up", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(page, fc.nat(40)), { minLength: 1, maxLength: 60 }), (pages) => {
        let client: AssignedClient | undefined;
        for (const [one, asn] of pages)
          client = addOutcome(addDecision(client, decision(one), asn), outcome(one), EXPECTED, asn).client;
        expect(parse(readAssignedClient, JSON.parse(JSON.stringify(client)))).toEqual({ ok: true, value: client });
      }),
    );
  });

  const good = addDecision(undefined, decision(), 1);
  const day = good?.rows["all"];
  it.each([
    ["", null],
    ["/arm", { ...good, arm: "policy" }],
    ["/period", { ...good, period: -1 }],
    ["/rows", { ...good, rows: [] }],
    ["/rows", { ...good, rows: { elsewhere: day } }],
    ["/rows", { ...good, rows: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`asn/${i}`, day])) }],
    ["/rows/all/decided", { ...good, rows: { all: { ...day, decided: -1 } } }],
    ["/rows/rtt~12/load", { ...good, rows: { "rtt/2": { ...day, load: 7 } } }],
  ])("refuses %s", (pointer, json) => {
    const parsed = parse(readAssignedClient, json);
    expect(parsed.ok ? [] : parsed.faults.map((fault) => fault.pointer)).toContain(pointer);
  });
});
