import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../base/root.ts";
import { parsePolicy } from "../../../policy-api/core/parse-policy.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { logTimesAt } from "../../../policy-api/core/times.ts";
import { exampleRow } from "../../model/testing.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { rowsIn } from "../../model/recorded-run.ts";
import { calibrate, policyOf } from "./calibrate.ts";
import { cellsOf } from "./cells.ts";
import { MIXES } from "./mixes.ts";
import { cellsOfTruth, type Truth } from "./testing.ts";

/** Linear in the coordinates of the fit: HTTP/3 gains by loss, and a cold session 0.2 more. */
const truth: Truth = {
  stay: ({ rttMs }, bytes) => 3 + 0.6 * Math.log(rttMs + 1) + 0.5 * Math.log(bytes / 1e6),
  switchSaving: ({ lossRatio }) => 0.3 * (Math.log(lossRatio + 0.001) - Math.log(0.006)),
  coldSaving: ({ lossRatio }) => 0.3 * (Math.log(lossRatio + 0.001) - Math.log(0.006)) + 0.2,
};
const MIX = MIXES["nine-networks"];

describe("calibrate", () => {
  const calibration = calibrate(cellsOfTruth(truth), MIX);

  it.each([
    { rttMs: 20, lossRatio: 0.02, deliveryRateBps: 6e6 },
    { rttMs: 34, lossRatio: 0, deliveryRateBps: 2e7 },
    { rttMs: 60, lossRatio: 0.04, deliveryRateBps: 1e7 },
  ])("gives back the times that cells were made of, at $rttMs ms and $lossRatio", (path) => {
    for (const transport of ["tcp", "quic"] as const) {
      const lattice = calibration?.method[transport];
      if (lattice === undefined) throw new Error("nothing was calibrated");
      const times = logTimesAt(lattice, path, 3e5);
      expect(times.stay).toBeCloseTo(truth.stay(path, 3e5), 0);
      expect(Math.abs(times.switchSaving - truth.switchSaving(path, 3e5))).toBeLessThan(0.1);
      expect(Math.abs(times.coldSaving - truth.coldSaving(path, 3e5))).toBeLessThan(0.1);
      expect(times.clamped).toBe(false);
    }
  });

  it("says where nothing was measured", () => {
    const lattice = calibration?.method.tcp;
    if (lattice === undefined) throw new Error("nothing was calibrated");
    expect(logTimesAt(lattice, { rttMs: 900, lossRatio: 0.01, deliveryRateBps: 1e7 }, 1e6).clamped).toBe(true);
  });

  it("begins an unknown client at the mean over the mix", () => {
    const times = calibration?.coldStart;
    if (times === undefined) throw new Error("nothing was calibrated");
    const expected = [0, 0.025, 0.05]
      .map((lossRatio) => truth.switchSaving({ rttMs: 25, lossRatio, deliveryRateBps: 2.5e7 }, 1e6))
      .reduce((sum, saving) => sum + saving / 3, 0);
    const found = logTimesAt(times, { rttMs: 25, lossRatio: 0, deliveryRateBps: 1 }, 1e6);
    expect(Math.abs(found.switchSaving - expected)).toBeLessThan(0.1);
  });

  it("makes a policy that can be put", () => {
    if (calibration === undefined) throw new Error("nothing was calibrated");
    const policy = policyOf(calibration, MIX, undefined);
    expect(parsePolicy(JSON.parse(JSON.stringify(policy)))).toEqual({ ok: true, value: policy });
  });

  it("calibrates nothing of too few cells", () => {
    expect(calibrate(cellsOfTruth(truth).slice(0, 5), MIX)).toBeUndefined();
  });
});

describe("cellsOf", () => {
  const load = (arm: LoadRow["arm"], round: number, over: Partial<LoadRow> = {}): LoadRow =>
    exampleRow({
      cell: "x-cubic",
      congestion: "cubic",
      arm,
      flow: "trained",
      round,
      loadMs: 100 + round,
      imageBytes: 1e6,
      rateMbps: 80,
      delayMs: 5,
      lossRatio: 0.01,
      tcpMinRttMs: 10,
      tcpPacketsSent: 700,
      tcpPacketsLost: arm === "fixed-h2" ? round : 0,
      tcpDeliveryRateBps: 1e6,
      quicMinRttMs: 11,
      quicPacketsSent: 800,
      quicPacketsLost: 8,
      quicDeliveryRateBps: 2e6,
      ...over,
    });
  const arms = ["fixed-h2", "always-offer", "fixed-h3"] as const;
  const rows = arms.flatMap((arm) => [1, 2, 3].map((round) => load(arm, round)));

  it("pools what senders measured: loss over all packets, RTT and rate by median", () => {
    const [cell] = cellsOf(rows);
    expect(cell?.measured.tcp).toEqual({ rttMs: 10, lossRatio: 6 / 2100, deliveryRateBps: 1e6 });
    expect(cell?.measured.quic).toEqual({ rttMs: 11, lossRatio: 0.01, deliveryRateBps: 2e6 });
    expect(cell?.configured).toEqual({ rttMs: 10, lossRatio: 0.01, deliveryRateBps: 1e7 });
    expect(cell?.stay.log).toBeCloseTo(Math.log(102), 9);
  });

  it.each([
    ["dropped loads", rows.map((row) => (row.round === 3 ? { ...row, dropped: "busy" as const } : row))],
    ["other flows", rows.map((row) => ({ ...row, flow: "cold" as const }))],
    ["an arm that is missing", rows.filter(({ arm }) => arm !== "fixed-h3")],
  ])("leaves a cell out for %s", (_name, given) => {
    expect(cellsOf(given)).toEqual([]);
  });
});

it.each([
  ["policy-api/policies", "mostly-clean", "calibration", ["cubic", "bbr"]],
  ["bench/policies", "nine-networks", "calibration", ["cubic", "bbr"]],
  ["policy-api/policies/quiche-cubic", "mostly-clean", "calibration-quiche-cubic", ["cubic", "bbr"]],
  ["policy-api/policies/quiche-bbr2", "mostly-clean", "calibration-quiche-bbr2", ["cubic", "bbr"]],
] as const)("the policies in %s are what the recorded rows say, with the mix %s", (folder, mix, from, congestions) => {
  const cells = cellsOf(rowsIn(join(ROOT, "bench/results", from), LOAD_ROW));
  for (const congestion of congestions) {
    const own = cells.filter((cell) => cell.congestion === congestion);
    const calibration = calibrate(own, MIXES[mix]);
    const kept = JSON.parse(readFileSync(join(ROOT, folder, `${congestion}.json`), "utf8")) as Policy;
    expect(calibration).toBeDefined();
    if (calibration !== undefined) expect(policyOf(calibration, MIXES[mix], kept.provenance)).toEqual(kept);
    expect(kept.provenance?.cells).toBe(own.length);
  }
});
