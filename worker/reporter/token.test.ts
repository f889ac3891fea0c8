import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ASSIGNMENT_MS, periodAt } from "../../policy-api/decision/assignment.ts";
import { ADVERTISED, ARMS, type PageDecision, PAGE_POSITIONS } from "../../policy-api/visitors/page-outcome.ts";
import type { TablePlace } from "../../policy-api/decision/gain-table.ts";
import { TRANSPORTS } from "../../policy-api/decision/sample.ts";
import { pageDecision } from "../../policy-api/visitors/testing-pages.ts";
import { Hasher } from "../hasher.ts";
import { HASH_KEY } from "../testing.ts";
import { readToken, writeToken } from "./token.ts";

const CLIENT = "AAAAAAAAAAAAAAAAAAAAAA";
const hasher = new Hasher(HASH_KEY);

const u32 = fc.nat(2 ** 32 - 1);
/** An axis of a table has at most 64 values. */
const index = fc.nat(63);
const anyPlace: fc.Arbitrary<TablePlace> = fc.record(
  { rtt: index, size: index, loss: index },
  { requiredKeys: ["rtt", "size"], noNullPrototype: true },
);
const anyDecision: fc.Arbitrary<PageDecision> = fc
  .record({
    policyVersion: u32,
    revision: u32,
    arm: fc.constantFrom(...ARMS),
    advertised: fc.constantFrom(...ADVERTISED),
    propensity: fc.double({ min: 0, max: 1, noNaN: true }),
    position: fc.constantFrom(...PAGE_POSITIONS),
    transport: fc.constantFrom(...TRANSPORTS),
    rttMs: fc.option(fc.double({ min: 0.01, max: 60_000, noNaN: true }), { nil: undefined }),
    contentBytes: fc.nat(1e9),
    place: fc.option(anyPlace, { nil: undefined }),
    atMs: fc.nat(2 ** 47),
    drawnBefore: fc.nat(1),
  })
  .map(({ drawnBefore, ...decision }) => ({ ...decision, period: periodAt(decision.atMs) - drawnBefore }));

describe("a token", () => {
  it("has 64 characters that a header takes as they are, and says nothing about the client", async () => {
    const token = writeToken(pageDecision(), CLIENT, hasher);
    expect(token).toMatch(/^[\w-]{64}$/);
    const other = writeToken(pageDecision(), CLIENT, hasher);
    // All but the nonce and the code are those of the decision.
    expect(other.slice(0, 40)).toBe(token.slice(0, 40));
    expect(other.slice(40)).not.toBe(token.slice(40));
  });

  it("brings back what was decided", async () => {
    await fc.assert(
      fc.asyncProperty(anyDecision, async (decision) => {
        const { rttMs, place, propensity, contentBytes, ...exact } = decision;
        const read = readToken(writeToken(decision, CLIENT, hasher), CLIENT, hasher);
        expect(read?.decision).toMatchObject(exact);
        expect(read?.decision.propensity).toBeCloseTo(propensity, 4);
        expect(read?.decision.contentBytes).toBe(Math.fround(contentBytes));
        expect(read?.decision.rttMs).toBe(rttMs && Math.fround(rttMs));
        expect(read?.decision.place).toStrictEqual(place);
      }),
    );
  });

  it.each<[string, TablePlace | undefined]>([
    ["the first of everything", { rtt: 0, size: 0, loss: 0 }],
    ["the last of everything, in the largest table that a policy may have", { rtt: 63, size: 63, loss: 63 }],
    ["the same, where nobody counted packets", { rtt: 63, size: 63 }],
    ["none", undefined],
  ])("brings back a place of a gain table: %s", async (_name, place) => {
    const read = readToken(writeToken(pageDecision({ place }), CLIENT, hasher), CLIENT, hasher);
    expect(read?.decision.place).toStrictEqual(place);
  });

  it("brings back the period in which the client was drawn, also if another one began before the decision", async () => {
    const beginMs = 10_000 * ASSIGNMENT_MS;
    for (const [atMs, period] of [
      [beginMs - 1, 9_999],
      [beginMs, 9_999],
      [beginMs, 10_000],
    ] as const) {
      const token = writeToken(pageDecision({ atMs, period }), CLIENT, hasher);
      expect(readToken(token, CLIENT, hasher)?.decision).toMatchObject({ atMs, period });
    }
  });

  it("is one of a kind", async () => {
    const nonces = new Set<string | undefined>();
    for (let i = 0; i < 1_000; i++) {
      const token = writeToken(pageDecision(), CLIENT, hasher);
      nonces.add(readToken(token, CLIENT, hasher)?.nonce);
    }
    expect(nonces.size).toBe(1_000);
    expect(nonces).not.toContain(undefined);
  });

  it("with any bit changed is refused", async () => {
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const token = writeToken(pageDecision(), CLIENT, hasher);
    expect(readToken(token, CLIENT, hasher)).toBeDefined();
    for (let at = 0; at < token.length; at++)
      for (let bit = 1; bit < 64; bit *= 2) {
        const changed = alphabet[alphabet.indexOf(token[at] ?? "") ^ bit] ?? "";
        const mutated = token.slice(0, at) + changed + token.slice(at + 1);
        expect(mutated).not.toBe(token);
        expect(readToken(mutated, CLIENT, hasher), `${at}, ${bit}`).toBeUndefined();
      }
  });

  it.each([
    ["nothing", ""],
    ["a shorter one", "A".repeat(60)],
    ["a longer one", "A".repeat(68)],
    ["of other characters", "é".repeat(64)],
    ["of zeros", "A".repeat(64)],
  ])("that nobody wrote is refused: %s", async (_name, token) => {
    expect(readToken(token, CLIENT, hasher)).toBeUndefined();
  });

  it("of another client, or of another deployment, is refused", async () => {
    const token = writeToken(pageDecision(), CLIENT, hasher);
    const elsewhere = new Hasher(new Uint8Array(32).fill(8).buffer);
    expect(readToken(token, `${CLIENT.slice(1)}B`, hasher)).toBeUndefined();
    expect(readToken(token, CLIENT, elsewhere)).toBeUndefined();
  });

  it("in the other alphabet of base64 is refused: each token has one spelling", async () => {
    for (;;) {
      const token = writeToken(pageDecision(), CLIENT, hasher);
      if (!/[-_]/.test(token)) continue;
      expect(readToken(token.replaceAll("-", "+").replaceAll("_", "/"), CLIENT, hasher)).toBeUndefined();
      return;
    }
  });
});
