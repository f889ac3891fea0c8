import { describe, expect, it } from "vitest";
import type { Direction } from "../../lab/path.ts";
import { fidelitySettings } from "./experiment.ts";
import {
  type FidelitySetting,
  fidelityTable,
  type Measurement,
  type Probe,
  rowsOf,
  type Stamps,
  verdictOf,
} from "./report.ts";

const DELAY: Probe = { mode: "delay", packets: 100, gapMs: 1, loadMbps: 0 };

/** A packet each 100 us; `delayNs` of each, -1 where it is lost. */
function measured(
  asked: Direction,
  probe: Probe,
  delaysNs: readonly number[],
  { emulatorDrops = 0, ...given }: Partial<Stamps & Measurement> = {},
): Measurement {
  const sentNs = delaysNs.map((_, i) => i * 1e5);
  const receivedNs = delaysNs.map((delay, i) => (delay < 0 ? -1 : i * 1e5 + delay));
  return {
    setting: { ways: ["aToB"], asked, probe },
    direction: "aToB",
    packets: delaysNs.map((_, i) => ({ dueNs: i * 1e5, bytes: 64, isProbe: true })),
    stamps: { sentNs, receivedNs, receiverDrops: 0, clockStepNs: 0, ...given },
    emulatorDrops,
  };
}

/** A run at 100 Mbit/s of what is sent, of which the path lets through so much. */
function atRate(askedMbps: number, rateMbps: number, offeredMbps = 2 * askedMbps): Measurement {
  const count = 2 * Math.round((askedMbps * 1e6) / 12e3);
  const sentNs = Array.from({ length: count }, (_, i) => (i * 12e6) / offeredMbps);
  return {
    setting: { ways: ["aToB"], asked: { rateMbps: askedMbps }, probe: { mode: "rate", seconds: 1 } },
    direction: "aToB",
    packets: sentNs.map((dueNs) => ({ dueNs, bytes: 1_500, isProbe: true })),
    stamps: {
      sentNs,
      receivedNs: sentNs.map((_, i) => (i * 12e6) / rateMbps),
      receiverDrops: 0,
      clockStepNs: 0,
    },
    emulatorDrops: 0,
  };
}

const verdicts = (measurement: Measurement): [string, boolean][] =>
  rowsOf(measurement, 10).map(({ quantity, ok }) => [quantity, ok]);

describe("bounds", () => {
  it.each([
    [0.5, 1, true, true],
    [0.51, 0.6, false, true],
    [-0.51, 0, false, true],
    [0.1, 1.01, true, false],
  ])("delay: a median %f ms and a p99 %f ms off", (median, p99, medianOk, p99Ok) => {
    const delays = Array.from({ length: 1_000 }, (_, i) => 1e6 * (12.5 + (i < 980 ? median : p99)) - 1e-3);
    expect(verdicts(measured({ delayMs: 12.5 }, DELAY, delays))).toEqual([
      ["delay, median", medianOk],
      ["delay, p99", p99Ok],
    ]);
  });

  it.each([
    [48.6, true],
    [48.4, false],
    [51.4, true],
    [51.6, false],
  ])("rate: %f of 50 Mbit/s", (rateMbps, ok) => {
    expect(verdicts(atRate(50, rateMbps))).toEqual([["rate", ok]]);
  });

  it.each([
    [5.4, true],
    // Behind the other flow, as in one queue.
    [9, false],
  ])("fq_codel: packets of another flow may wait and go, these take %f ms", (ms, ok) => {
    const own = Array.from({ length: 100 }, (_, i) => ({ dueNs: 10e6 * i, bytes: 64, isProbe: true }));
    const packets = own.flatMap((packet) => [{ ...packet, bytes: 1_500, isProbe: false }, packet]);
    const sentNs = packets.map(({ dueNs }) => dueNs);
    const receivedNs = packets.map(({ dueNs, isProbe }, i) =>
      isProbe ? dueNs + ms * 1e6 : i % 4 === 0 ? -1 : dueNs + 90e6,
    );
    const asked = { delayMs: 5, rateMbps: 50, queue: "fq_codel" } as const;
    const setting = { ways: ["aToB"], asked, probe: { mode: "delay", packets: 100, gapMs: 10, loadMbps: 60 } } as const;
    const stamps = { sentNs, receivedNs, receiverDrops: 0, clockStepNs: 0 };
    expect(verdicts({ setting, direction: "aToB", packets, stamps, emulatorDrops: 0 })).toEqual([
      ["delay, median", ok],
      ["delay, p99", ok],
    ]);
  });

  it("jitter: the spread must be there, too", () => {
    const asked = { delayMs: 12.5, jitterMs: 2 };
    const uniform = Array.from({ length: 999 }, (_, i) => 1e6 * (10.5 + (4 * i) / 998));
    // Far apart, so that no packet overtakes another one.
    const far = (delays: readonly number[]): Measurement => {
      const measurement = measured(asked, DELAY, delays);
      const sentNs = delays.map((_, i) => i * 20e6);
      return {
        ...measurement,
        stamps: { ...measurement.stamps, sentNs, receivedNs: delays.map((delay, i) => i * 20e6 + delay) },
      };
    };
    expect(verdicts(far(uniform)).every(([, ok]) => ok)).toBe(true);
    expect(verdicts(far(uniform.map(() => 12.5e6)))).toEqual([
      ["delay, p1", false],
      ["delay, median", true],
      ["delay, p99", false],
    ]);
  });

  it("loss: a row fails by the interval that all rows hold together, and notes its own", () => {
    const row = (lost: number) =>
      rowsOf(
        measured(
          { lossRatio: 0.025 },
          { mode: "loss", packets: 10_000 },
          Array.from({ length: 10_000 }, (_, i) => (i % 10 === 0 && i < 10 * lost ? -1 : 1e6)),
        ),
        10,
      )[0];
    expect(row(250)).toMatchObject({ ok: true, note: expect.stringMatching(/^in its own 95 % interval/) });
    expect(row(286)).toMatchObject({ ok: true, note: expect.stringMatching(/^not in its own 95 % interval/) });
    expect(row(310)).toMatchObject({ ok: false });
  });

  it.each<[string, Parameters<typeof measured>[3], readonly number[]]>([
    ["receiver's buffer", { receiverDrops: 1 }, [1e6, 1e6]],
    ["clock stepped by -2 ms", { clockStepNs: -2e6 }, [1e6, 1e6]],
    ["1 packets were reordered", {}, [1.2e6, 1e6]],
    ["own fault", { emulatorDrops: 1 }, [1e6, 1e6]],
    ["1 packets were lost", {}, [1e6, -1]],
  ])("a spoiled measurement fails, and says why: %s", (reason, given, delays) => {
    const rows = rowsOf(measured({ delayMs: 1 }, DELAY, delays, given), 1);
    expect(rows.map(({ ok, note }) => [ok, note.includes(reason)])).toEqual([
      [false, true],
      [false, true],
    ]);
  });

  it("where nothing arrives nothing holds", () => {
    const [row] = rowsOf(measured({ delayMs: 1 }, DELAY, [-1, -1]), 1);
    expect(row).toMatchObject({ ok: false, note: expect.stringContaining("nothing arrived") });
  });
});

it("a probe that could not send enough does not blame the path", () => {
  const [row] = rowsOf(atRate(1_000, 990, 990), 1);
  expect(row).toMatchObject({ ok: false, note: "the probe could send only 990 Mbit/s" });
});

describe("the verdict", () => {
  const rates = (...pairs: readonly (readonly [number, boolean])[]) =>
    pairs.flatMap(([rateMbps, ok]) => rowsOf(atRate(rateMbps, ok ? rateMbps : 0.9 * rateMbps), 1));

  it.each([
    [rates([50, true], [200, true], [400, true]), true, 400],
    [rates([50, true], [200, true], [400, false], [600, true]), true, 200],
    [rates([50, true], [200, false], [400, true]), false, 50],
    [rates([50, false], [200, true]), false, 0],
  ])("%#: holds with all rates below it", (rows, ok, limitMbps) => {
    expect(verdictOf(rows)).toEqual({ ok, limitMbps });
  });

  it("is 0 if a row without a bottleneck does not hold, unless it was measured again", () => {
    const late = rowsOf(measured({ delayMs: 5 }, DELAY, [8e6, 8e6]), 1);
    const rows = rates([50, true]);
    expect(verdictOf([...rows, ...late])).toEqual({ ok: false, limitMbps: 0 });
    const superseded = late.map((row) => ({ ...row, superseded: true }));
    expect(verdictOf([...rows, ...superseded])).toEqual({ ok: true, limitMbps: 50 });
  });

  it("stands in the table row by row", () => {
    const lines = fidelityTable(rates([50, true], [400, false])).split("\n");
    expect(lines.filter((line) => line.includes("MISSED"))).toHaveLength(1);
    expect(lines).toHaveLength(4);
  });
});

it("every setting is measured in both directions", () => {
  for (const quick of [true, false]) {
    const of = (way: string): FidelitySetting["asked"][] =>
      fidelitySettings(quick).flatMap(({ ways, asked }) => (ways.some((one) => one === way) ? [asked] : []));
    expect(of("aToB")).toEqual(of("bToA"));
  }
});
