import { PAGES_COUNTED, REACH_FIXED } from "../../../policy-api/outcomes/client-day.ts";
import { ASSIGNED_TERMS, PAGES_STAYED, TIMES_TERMS } from "../../../policy-api/outcomes/contribution.ts";
import { SCALE } from "../../../policy-api/outcomes/fixed-point.ts";
import { type Moments, noMoments } from "../../../policy-api/outcomes/moments.ts";
import { NO_SUMS, type Sums } from "../../../policy-api/outcomes/sums.ts";
import type { Row } from "./clients.ts";

const TERMS = 5;
const PRODUCTS = (TERMS * (TERMS + 1)) / 2;
const GROUP = 1 + TERMS + PRODUCTS;
if (ASSIGNED_TERMS !== TERMS || TIMES_TERMS !== TERMS)
  throw new Error("The sums have other terms than the simulation.");

/**
 * The sums of an arm as numbers: `policy-api/outcomes` adds BigInts, which takes a hundred times as long. Ten thousand
 * clients stay below 2^53, so both are exact, and a test compares them.
 */
export type ArmSums = Float64Array;

export function noArmSums(): ArmSums {
  return new Float64Array(2 * GROUP);
}

/** Adds a client's row, or takes it out. */
export function addRow(sums: ArmSums, row: Row, sign: 1 | -1): void {
  const { decided, reported, logs, predicted, overH3, atBound } = row;
  const each = decided > PAGES_COUNTED ? PAGES_COUNTED / decided : 1;
  const beyond = logs - predicted + (decided - reported) * REACH_FIXED;
  addTerms(
    sums,
    0,
    sign,
    Math.min(decided, PAGES_STAYED) * SCALE,
    Math.round(decided * each * SCALE),
    Math.round(reported * each * SCALE),
    Math.round(beyond * each),
    0,
  );
  if (reported === 0) return;
  const weight = reported > PAGES_COUNTED ? PAGES_COUNTED / reported : 1;
  addTerms(
    sums,
    GROUP,
    sign,
    Math.round(reported * weight * SCALE),
    Math.round(logs * weight),
    Math.round(predicted * weight),
    Math.round(overH3 * weight * SCALE),
    Math.round(atBound * weight * SCALE),
  );
}

function addTerms(
  sums: ArmSums,
  at: number,
  sign: number,
  a: number,
  b: number,
  c: number,
  d: number,
  e: number,
): void {
  const put = (i: number, value: number): void => {
    sums[at + i] = (sums[at + i] as number) + sign * value;
  };
  put(0, 1);
  put(1, a);
  put(2, b);
  put(3, c);
  put(4, d);
  put(5, e);
  put(6, a * a);
  put(7, a * b);
  put(8, a * c);
  put(9, a * d);
  put(10, a * e);
  put(11, b * b);
  put(12, b * c);
  put(13, b * d);
  put(14, b * e);
  put(15, c * c);
  put(16, c * d);
  put(17, c * e);
  put(18, d * d);
  put(19, d * e);
  put(20, e * e);
}

/** The same as the sums that a store keeps. */
export function sumsOf(sums: ArmSums): Sums {
  return { ...NO_SUMS, assigned: momentsAt(sums, 0), load: momentsAt(sums, GROUP), lcp: noMoments(TERMS) };
}

function momentsAt(sums: ArmSums, at: number): Moments {
  const exact = Array.from(sums.subarray(at, at + GROUP), BigInt);
  return { clients: exact[0] ?? 0n, sums: exact.slice(1, 1 + TERMS), products: exact.slice(1 + TERMS) };
}
