import { expect, it } from "vitest";
import { type InForce, policyFor } from "../policy-api/decision/activation.ts";
import { Hasher } from "./hasher.ts";
import { HASH_KEY, inForce, mode } from "./testing.ts";

const CLIENTS = 200_000;
const PERIOD = 491_000;

/** Version 4 for a share of clients, version 3 for all others. */
const staged = (share: number, version = 4): InForce =>
  inForce(mode("observe"), { stages: [{ version, policy: mode("fixed-h2"), share }] });

it(
  "5 % of 200,000 clients are 5 % of them: the same over versions, still in it when it grows, and no likelier to explore",
  { timeout: 120_000 },
  () => {
    const hasher = new Hasher(HASH_KEY);
    const [five, ten, next] = [staged(0.05), staged(0.1), staged(0.05, 5)];
    const counts = { five: 0, ten: 0, exploring: 0, shared: 0 };
    let left = 0;
    let changed = 0;
    for (let n = 0; n < CLIENTS; n++) {
      const address = { client: `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`, network: "" };
      const unit = hasher.unit("activation", address);
      const inFive = policyFor(five, "/", unit).version === 4;
      // Within the share, the halves of the other domains must still be halves.
      const exploration = inFive ? hasher.unit("exploration", address, PERIOD) : 1;
      const share = inFive ? hasher.unit("share", address) : 1;
      const inTen = policyFor(ten, "/", unit).version === 4;
      if (inFive) counts.five++;
      if (inTen) counts.ten++;
      if (inFive && exploration < 0.5) counts.exploring++;
      if (inFive && share < 0.5) counts.shared++;
      if (inFive && !inTen) left++;
      if (inFive !== (policyFor(next, "/", unit).version === 5)) changed++;
    }
    // 5 % +- 0.22 points is 4.6 standard errors; 10 % +- 0.31 the same.
    expect(Math.abs(counts.five / CLIENTS - 0.05)).toBeLessThan(0.0022);
    expect(Math.abs(counts.ten / CLIENTS - 0.1)).toBeLessThan(0.0031);
    expect([left, changed]).toEqual([0, 0]);
    // Halves of 10,000: 0.011 is 2.2 standard errors. The key is fixed, so the result is always the same.
    expect(Math.abs(counts.exploring / counts.five - 0.5)).toBeLessThan(0.011);
    expect(Math.abs(counts.shared / counts.five - 0.5)).toBeLessThan(0.011);
  },
);
