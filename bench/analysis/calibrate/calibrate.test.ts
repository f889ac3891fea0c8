import { describe, expect, it } from "vitest";
import { type GainTable, gainsAt, gridOf } from "../../../policy-api/decision/gain-table.ts";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { parsePolicy } from "../../../policy-api/decision/policy.ts";
import type { LogTime, SenderPlace, SenderTimes } from "../senders/places.ts";
import { ACCESS_LINES, gainTableOf, policyOf } from "./calibrate.ts";
import { leanTable } from "./lean.ts";
import type { PriceAt } from "./price.ts";

const RTTS = [5, 30, 100];
const SIZES = [1e5, 1e6];
/** What was measured besides, which is none of the losses that are counted. */
const LOSSES = [...LOSS_NODES, 0.01].toSorted((a, b) => a - b);
const STACK = { tcp: "cubic", quic: "quic-go" } as const;

const sure = (log: number, se = 0.02): LogTime => ({ log, se });
const times = (first: LogTime, opened: LogTime, later: LogTime): SenderTimes => ({ n: 9, first, opened, later });

/** Another gain at each place: a tenth for a size, a hundredth for a loss, a thousandth for an RTT. */
const gainAt = (size: number, loss: number, rtt: number): number => 0.1 * size + 0.01 * loss + 0.001 * rtt;

/** The page after the offer gains 0.05 less than that, and the ones after it 0.05 more; a return twice as much, as set-ups are alike. */
function placeAt(size: number, loss: number, rtt: number, change = 1): SenderPlace {
  const gain = change * gainAt(size, loss, rtt);
  return {
    rttMs: RTTS[rtt] ?? Number.NaN,
    lossRatio: LOSSES[loss] ?? Number.NaN,
    contentBytes: SIZES[size] ?? Number.NaN,
    times: {
      cubic: times(sure(6), sure(5.9), sure(5)),
      "quic-go": times(sure(6 - 2 * gain), sure(5.05 - gain), sure(4.95 - gain)),
    },
  };
}

const PLACES = SIZES.flatMap((_size, size) =>
  LOSSES.flatMap((_loss, loss) => RTTS.map((_rtt, rtt) => placeAt(size, loss, rtt))),
);
const NO_PRICE: PriceAt = () => ({ log: 0, se: 0.01 });

function tableOf(places: readonly SenderPlace[], priceAt: PriceAt = NO_PRICE): GainTable {
  const made = gainTableOf(places, STACK, priceAt);
  if ("missing" in made) throw new Error(`These are missing: ${made.missing.join("; ")}`);
  return made.table;
}

describe("gainTableOf", () => {
  const table = tableOf(PLACES);

  it("has the RTTs and sizes that were measured, and the losses that are counted", () => {
    expect(table).toMatchObject({ rttMs: RTTS, contentBytes: SIZES, lossRatio: LOSS_NODES });
  });

  it("has at each place what was measured there", () => {
    for (const [size] of SIZES.entries())
      for (const [node, lossRatio] of LOSS_NODES.entries())
        for (const [rtt] of RTTS.entries()) {
          const gain = gainAt(size, LOSSES.indexOf(lossRatio), rtt);
          // 30 % of gain - 0.05, 36 % of gain + 0.05, 34 % of a page with a set-up: 5 - (6 - 2 gain).
          expect(table.next.gain[size]?.[node]?.[rtt]).toBeCloseTo(1.34 * gain - 0.337, 2);
          expect(table.return.gain[size]?.[node]?.[rtt]).toBeCloseTo(2 * gain, 9);
        }
  });

  it("is what a decision reads at these places", () => {
    for (const [size, contentBytes] of SIZES.entries())
      for (const [rtt, rttMs] of RTTS.entries()) {
        for (const [node] of LOSS_NODES.entries()) {
          const { next } = gainsAt(
            gridOf(table),
            rttMs,
            contentBytes,
            LOSS_NODES.map((_, i) => (i === node ? 1 : 0)),
          );
          expect(next).toBeCloseTo(table.next.gain[size]?.[node]?.[rtt] ?? Number.NaN, 9);
        }
      }
  });

  it("does not depend on the order of the places", () => {
    expect(tableOf(PLACES.toReversed())).toEqual(table);
  });

  it("tells how certain each is: of a next page, three kinds count by their shares", () => {
    const certain = PLACES.map((place) => ({
      ...place,
      times: {
        cubic: times(sure(6, 0.03), sure(5.9, 9), sure(5, 0.02)),
        "quic-go": times(sure(6, 0.04), sure(5, 0.06), sure(5, 0.08)),
      },
    }));
    const { next, return: again } = tableOf(certain);
    expect(again.se[1]?.[2]?.[0]).toBe(0.05);
    // The root of 0.02², (0.3 x 0.06)², (0.36 x 0.08)² and (0.34 x 0.04)².
    expect(next.se[1]?.[2]?.[0]).toBe(0.042);
  });

  it("claims no more than a measurement does: three digits, and no error of 0", () => {
    const exact = PLACES.map((place) => ({
      ...place,
      times: {
        cubic: times(sure(6, 0), sure(6, 0), sure(1 / 3, 0)),
        "quic-go": times(sure(6, 0), sure(0, 0), sure(0, 0)),
      },
    }));
    const { next, return: again, priceSe } = tableOf(exact, () => ({ log: 0.12345, se: 0 }));
    // A third of 1, less 34 % of 6.
    expect(next.gain[0]?.[0]?.[0]).toBe(-1.707);
    for (const se of [...next.se.flat(2), ...again.se.flat(2), ...priceSe]) expect(se).toBe(0.001);
  });

  it("has for each RTT what the page that brings an offer loses", () => {
    const { price, priceSe } = tableOf(PLACES, (rttMs) => ({ log: 0.3 - rttMs / 100, se: rttMs / 1_000 }));
    expect(price).toEqual([0.25, 0, -0.7]);
    expect(priceSe).toEqual([0.005, 0.03, 0.1]);
  });

  it("takes the senders of its own stack", () => {
    const twoTcps = PLACES.map((place) => ({
      ...place,
      times: { ...place.times, bbr: times(sure(7), sure(7), sure(7)) },
    }));
    expect(tableOf(twoTcps)).toEqual(table);
    const beside = gainTableOf(twoTcps, { tcp: "bbr", quic: "quic-go" }, NO_PRICE);
    // Two more than cubic's.
    expect("table" in beside && beside.table.next.gain[0]?.[0]?.[0]).toBeCloseTo(2 - 0.337, 9);
  });

  it("names each place that it lacks, once", () => {
    const lacking = PLACES.flatMap((place) => {
      const { rttMs, lossRatio, contentBytes, times: own } = place;
      if (rttMs === 30 && lossRatio === 0.001 && contentBytes === 1e5) return [];
      if (rttMs === 100 && lossRatio === 0.05 && contentBytes === 1e6)
        return [{ ...place, times: { cubic: own.cubic } as SenderPlace["times"] }];
      // None of the losses that are counted: nothing lacks.
      return lossRatio === 0.01 ? [] : [place];
    });
    expect(gainTableOf(lacking, STACK, NO_PRICE)).toEqual({
      missing: ["100000 bytes, 0.1 %, 30 ms", "1000000 bytes, 5 %, 100 ms"],
    });
  });
});

describe("policyOf", () => {
  const provenance = {
    stack: "a server",
    congestionControl: "cubic",
    command: "npm run bench -- calibrate",
    rowsSha256: "a".repeat(64),
    loads: 1_000,
    cells: PLACES.length,
  };

  it("makes a policy that can be put", () => {
    const lean = leanTable(tableOf(PLACES), ACCESS_LINES, NO_PRICE);
    const policy = policyOf(lean, 25e6, provenance);
    expect(policy).toMatchObject({ mode: "adaptive", provenance, method: { kind: "gains", ceilingBps: 25e6 } });
    expect(JSON.stringify(policy).length).toBeLessThan(8_000);
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
  });
});
