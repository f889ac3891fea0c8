import { describe, expect, it } from "vitest";
import { checkFidelity, type FidelityRow, lossDispersion, type Measurement, type ProbeResult } from "./findings.ts";
import { type FidelitySetting, fidelitySettings } from "./settings.ts";
import { fidelityTable } from "./table.ts";

const SOUND: ProbeResult = { sent: 100, received: 100, reordered: 0, receiverDrops: 0, clockStepMs: 0 };
const DELAY = { mode: "delay", packets: 100, gapMs: 1, loadMbps: 0 } as const;
const RATE = { mode: "rate", seconds: 1 } as const;
const LOSS = { mode: "loss", packets: 100, gapMs: 1 } as const;
const ON_TIME = { p1: 0, median: 0, p99: 0 };

function measured(
  asked: FidelitySetting["asked"],
  probe: FidelitySetting["probe"],
  result: Partial<ProbeResult>,
  emulatorDrops = 0,
): Measurement {
  return {
    setting: { direction: "aToB", bothWays: false, asked, probe },
    direction: "aToB",
    result: { ...SOUND, ...result },
    emulatorDrops,
  };
}

function verdicts(measurement: Measurement): [string, boolean][] {
  return checkFidelity([measurement]).rows.map((row: FidelityRow) => [row.quantity, row.ok]);
}

describe("bounds", () => {
  it.each([
    [0.5, 1, true, true],
    [0.51, 0.6, false, true],
    [-0.51, 0, false, true],
    [0.1, 1.01, true, false],
  ])("delay: a median %f ms and a p99 %f ms off", (median, p99, medianOk, p99Ok) => {
    expect(verdicts(measured({ delayMs: 12.5 }, DELAY, { errorMs: { p1: 0, median, p99 } }))).toEqual([
      ["delay, median", medianOk],
      ["delay, p99", p99Ok],
    ]);
  });

  it.each([
    [48.5, true],
    [48.4, false],
    [51.5, true],
    [51.6, false],
  ])("rate: %f of 50 Mbit/s", (rateMbps, ok) => {
    expect(verdicts(measured({ rateMbps: 50 }, RATE, { rateMbps }))).toEqual([["rate", ok]]);
  });

  it("jitter: the spread must be there, too", () => {
    const asked = { delayMs: 12.5, jitterMs: 2 };
    const spread = { errorMs: { p1: -1.96, median: 0, p99: 1.96 } };
    expect(verdicts(measured(asked, DELAY, spread)).every(([, ok]) => ok)).toBe(true);
    expect(verdicts(measured(asked, DELAY, { errorMs: ON_TIME }))).toEqual([
      ["delay, p1", false],
      ["delay, median", true],
      ["delay, p99", false],
    ]);
  });

  it("loss: a row fails by the interval that all rows hold together, and notes its own", () => {
    const intervals = { interval: { low: 0.02, high: 0.03 }, familyInterval: { low: 0.018, high: 0.032 } };
    const row = (lossRatio: number) =>
      checkFidelity([measured({ lossRatio }, LOSS, { lossRatio: 0.025, ...intervals })]).rows[0];
    expect(row(0.025)).toMatchObject({ ok: true, note: expect.stringMatching(/^in its own 95 % interval/) });
    expect(row(0.019)).toMatchObject({ ok: true, note: expect.stringMatching(/^not in its own 95 % interval/) });
    expect(row(0.033)).toMatchObject({ ok: false });
  });

  it("loss in bursts: ratio and length", () => {
    const burstLoss = { goodToBad: 0.01, badToGood: 0.25, lossGood: 0, lossBad: 1 };
    const intervals = { interval: { low: 0.03, high: 0.05 }, familyInterval: { low: 0.03, high: 0.05 } };
    const result = { lossRatio: 0.04, bursts: 400, ...intervals };
    expect(verdicts(measured({ burstLoss }, LOSS, { ...result, meanBurstLength: 4.5 }))).toEqual([
      ["loss", true],
      ["burst length", true],
    ]);
    expect(verdicts(measured({ burstLoss }, LOSS, { ...result, meanBurstLength: 1 }))).toEqual([
      ["loss", true],
      ["burst length", false],
    ]);
  });

  it.each<[string, Partial<ProbeResult>, number]>([
    ["receiver's buffer", { receiverDrops: 1 }, 0],
    ["clock stepped", { clockStepMs: -2 }, 0],
    ["reordered", { reordered: 1 }, 0],
    ["own fault", {}, 1],
    ["were lost", { received: 99 }, 0],
  ])("a spoiled measurement fails, and says why: %s", (reason, result, drops) => {
    const { rows } = checkFidelity([measured({ delayMs: 1 }, DELAY, { errorMs: ON_TIME, ...result }, drops)]);
    expect(rows.map((row) => [row.ok, row.note.includes(reason)])).toEqual([
      [false, true],
      [false, true],
    ]);
  });
});

it("a probe that could not send enough does not blame the path", () => {
  const { rows } = checkFidelity([measured({ rateMbps: 1000 }, RATE, { rateMbps: 980, offeredMbps: 990 })]);
  expect(rows[0]).toMatchObject({ ok: false, note: "the probe could send only 990 Mbit/s" });
});

it("a missed bound names a busy machine", () => {
  const note = (othersBusyRatio: number, rateMbps: number): string | undefined =>
    checkFidelity([{ ...measured({ rateMbps: 50 }, RATE, { rateMbps }), othersBusyRatio }]).rows[0]?.note;
  expect(note(0.6, 40)).toBe("others used 60 % of the cores just before");
  expect(note(0.05, 40)).toBe("");
  expect(note(0.6, 50)).toBe("");
});

describe("the limit", () => {
  const rates = (...pairs: readonly (readonly [number, boolean])[]): Measurement[] =>
    pairs.map(([rateMbps, ok]) => measured({ rateMbps }, RATE, { rateMbps: ok ? rateMbps : 0.9 * rateMbps }));

  it.each([
    [rates([50, true], [200, true], [400, true]), true, 400],
    [rates([50, true], [200, true], [400, false], [600, true]), true, 200],
    [rates([50, true], [200, false], [400, true]), false, 50],
    [rates([50, false], [200, true]), false, 0],
  ])("%#: holds with all rates below it", (measurements, ok, limitMbps) => {
    expect(checkFidelity(measurements)).toMatchObject({ ok, limitMbps });
  });

  it("is 0 if a row without a bottleneck does not hold", () => {
    const late = measured({ delayMs: 5 }, DELAY, { errorMs: { p1: 0, median: 3, p99: 9 } });
    expect(checkFidelity([...rates([50, true]), late])).toMatchObject({ ok: false, limitMbps: 0 });
  });

  it("stands under the table", () => {
    const lines = fidelityTable(checkFidelity(rates([50, true], [400, false])));
    expect(lines.at(-1)).toBe("holds up to 50 Mbit/s on this machine");
    expect(lines.filter((line) => line.includes("MISSED"))).toHaveLength(1);
    expect(fidelityTable(checkFidelity(rates([50, false]))).at(-1)).toMatch(/does NOT hold/);
  });
});

describe("the dispersion of losses in bursts", () => {
  it("is that of a two-state chain", () => {
    // Of a chain whose states are the losses themselves: (1 + r) / (1 - r) with r = 1 - 0.01 - 0.25.
    const chain = { goodToBad: 0.01, badToGood: 0.25, lossGood: 0, lossBad: 1 };
    expect(lossDispersion({ burstLoss: chain })).toBeCloseTo(1.74 / 0.26, 9);
    expect(lossDispersion({ lossRatio: 0.5 })).toBe(1);
  });
});

it("every setting is measured in both directions", () => {
  for (const quick of [true, false]) {
    const settings = fidelitySettings(quick).filter(({ bothWays }) => !bothWays);
    const of = (direction: string): FidelitySetting["asked"][] =>
      settings.filter((setting) => setting.direction === direction).map(({ asked }) => asked);
    expect(of("aToB")).toEqual(of("bToA"));
  }
});

it("shows what was measured again, and judges by the last measurement", () => {
  const late = measured({ delayMs: 5 }, DELAY, { errorMs: { p1: 0, median: 0, p99: 3 } });
  const onTime = measured({ delayMs: 5 }, DELAY, { errorMs: ON_TIME });
  const report = checkFidelity([{ ...late, superseded: true }, onTime]);
  expect(report).toMatchObject({ ok: true });
  expect(report.rows.map(({ ok, note }) => [ok, note])).toEqual([
    [true, "measured again"],
    [false, "measured again"],
    [true, ""],
    [true, ""],
  ]);
  expect(checkFidelity([{ ...onTime, superseded: true }, late])).toMatchObject({ ok: false });
});
