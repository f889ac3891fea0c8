import { describe, expect, it } from "vitest";
import { seededRandom } from "./random.ts";
import { regret, type AdaptiveLoad, type Regret, type RegretLoads } from "./regret.ts";
import { lognormal } from "./testing.ts";

function repeat<T>(value: T, times: number): T[] {
  return Array.from({ length: times }, () => value);
}

/** Without `coldMs` HTTP/3 from the first packet takes what staying takes. */
function of(loads: Omit<RegretLoads, "coldMs"> & { readonly coldMs?: readonly number[] }): Regret {
  return regret({ coldMs: loads.stayMs, ...loads }, { random: seededRandom("regret"), resamples: 400 });
}

function adaptiveOf(stayed: number, stayMs: number, switched: number, switchMs: number): AdaptiveLoad[] {
  return [
    ...repeat({ loadMs: stayMs, switched: false }, stayed),
    ...repeat({ loadMs: switchMs, switched: true }, switched),
  ];
}

describe("without noise", () => {
  // Staying takes 100 ms, switching 150; adaptive costs 2 ms of its own.
  const stayMs = repeat(100, 20);
  const switchMs = repeat(150, 20);

  it("expects what decisions cost and what they add to the first byte, and nothing of what follows it", () => {
    const firstByte = (adaptive: readonly number[]) => ({ adaptive, others: repeat(20, 20) });
    const expectedOf = (adaptive: readonly number[]) =>
      of({ stayMs, switchMs, adaptive: adaptiveOf(15, 102, 5, 152), firstByteMs: firstByte(adaptive) }).expected;
    expect(expectedOf(repeat(21, 20))?.estimate).toBeCloseTo(0.25 * 0.5 + 0.01, 12);
    // A wait that three in ten have is seen by the middle half; a lost handshake in three of twenty is not.
    expect(expectedOf([...repeat(20, 14), ...repeat(30, 6)])?.estimate).toBeGreaterThan(0.25 * 0.5);
    expect(expectedOf([...repeat(20, 17), ...repeat(1020, 3)])?.estimate).toBeCloseTo(0.25 * 0.5, 12);
    // Deciding takes no less than no time.
    expect(expectedOf(repeat(19, 20))?.estimate).toBeCloseTo(0.25 * 0.5, 12);
    expect(of({ stayMs, switchMs, adaptive: adaptiveOf(15, 102, 5, 152) }).expected).toBeUndefined();
  });

  it("is P(wrong) times the gap, and the overhead apart", () => {
    const answer = of({ stayMs, switchMs, adaptive: adaptiveOf(15, 102, 5, 152) });
    expect(answer).toMatchObject({ better: "stay", tie: false, wrong: { count: 5, n: 20 } });
    expect(answer.decision.estimate).toBeCloseTo(0.25 * 0.5, 12);
    expect(answer.overhead.estimate).toBeCloseTo(0.02, 12);
    expect(answer.total.estimate).toBeCloseTo(0.25 * 0.5 + 0.02, 12);
  });

  it("counts staying as wrong where switching is better", () => {
    const answer = of({ stayMs: switchMs, switchMs: stayMs, adaptive: adaptiveOf(15, 150, 5, 100) });
    expect(answer).toMatchObject({ better: "switch", wrong: { count: 15 } });
    expect(answer.decision.estimate).toBeCloseTo(0.75 * 0.5, 12);
    expect(answer.overhead.estimate).toBeCloseTo(0, 12);
  });

  it("compares with the better of HTTP/2 and HTTP/3 from the first packet", () => {
    const adaptive = adaptiveOf(20, 102, 0, 0);
    expect(of({ stayMs, switchMs, adaptive, coldMs: repeat(80, 20) }).toFreeChoice.estimate).toBeCloseTo(0.275, 12);
    expect(of({ stayMs, switchMs, adaptive, coldMs: repeat(120, 20) }).toFreeChoice.estimate).toBeCloseTo(0.02, 12);
  });

  it("does not take 0 wrong of 20 for never wrong", () => {
    const { wrong, decision } = of({ stayMs, switchMs, adaptive: adaptiveOf(20, 100, 0, 0) });
    expect(decision.estimate).toBe(0);
    // The interval is P(wrong)'s, as the gap has no spread here; 400 resamples put its end within a few percent.
    expect(decision.high / (wrong.high * 0.5)).toBeGreaterThan(0.75);
    expect(decision.high / (wrong.high * 0.5)).toBeLessThan(1.25);
    expect(decision.upper95).toBeLessThan(decision.high);
  });

  it("agrees with the published means (Ohashi et al. 2020, network 5)", () => {
    const [h2Ms, h3Ms, adaptiveMs] = [29700.82, 22463.81, 22698.84];
    const answer = of({
      stayMs: repeat(h2Ms, 8),
      switchMs: repeat(h3Ms, 8),
      coldMs: repeat(h3Ms, 8),
      adaptive: adaptiveOf(0, 0, 8, adaptiveMs),
    });
    expect(answer.toFreeChoice.estimate).toBeCloseTo(adaptiveMs / h3Ms - 1, 12);
    expect(answer.decision.estimate).toBe(0);
  });
});

describe("with noise", () => {
  const truth = { gap: 0.5, wrong: 0.3, overhead: 0.02 };

  function drawn(name: string, cv: number, n: number): RegretLoads {
    const random = seededRandom(name);
    const adaptive = Array.from({ length: n }, () => {
      const switched = random() < truth.wrong;
      const [loadMs = 0] = lognormal(1, { mean: switched ? 150 : 100, cv }, random);
      return { loadMs: loadMs + 100 * truth.overhead, switched };
    });
    const stayMs = lognormal(n, { mean: 100, cv }, random);
    return { stayMs, coldMs: stayMs, switchMs: lognormal(n, { mean: 150, cv }, random), adaptive };
  }

  it.each([
    { cv: 0.3, n: 60 },
    { cv: 1.2, n: 60 },
  ])("covers the truth in about 95 % of experiments: cv $cv", ({ cv, n }) => {
    const experiments = 100;
    const covered = { decision: 0, overhead: 0, total: 0, upper: 0 };
    const expected = truth.gap * truth.wrong;
    for (let done = 0; done < experiments; done++) {
      const { decision, overhead, total } = regret(drawn(`noise ${cv} ${done}`, cv, n), {
        random: seededRandom(done),
        resamples: 200,
        splits: 4,
      });
      if (decision.low <= expected && expected <= decision.high) covered.decision += 1;
      if (overhead.low <= truth.overhead && truth.overhead <= overhead.high) covered.overhead += 1;
      if (total.low <= expected + truth.overhead && expected + truth.overhead <= total.high) covered.total += 1;
      if (total.upper95 >= expected + truth.overhead) covered.upper += 1;
    }
    for (const count of Object.values(covered)) expect(count / experiments).toBeGreaterThanOrEqual(0.87);
  });

  it("finds no regret between equal arms, where the smaller of two means would", () => {
    const estimates = Array.from({ length: 60 }, (_, done) => {
      const random = seededRandom("equal", done);
      const arm = (): number[] => lognormal(40, { mean: 100, cv: 0.3 }, random);
      const adaptive = arm().map((loadMs, load) => ({ loadMs, switched: load % 2 === 0 }));
      return regret(
        { stayMs: arm(), switchMs: arm(), coldMs: arm(), adaptive },
        { random, resamples: 200, splits: 10 },
      );
    });
    const average = estimates.reduce((sum, { decision }) => sum + decision.estimate, 0) / estimates.length;
    // Half of E|difference of means| / mean, what the plain estimate would say, is 0.027 here.
    expect(Math.abs(average)).toBeLessThan(0.008);
    expect(estimates.filter(({ tie }) => tie).length).toBeGreaterThan(50);
  });

  it("repeats under a seed", () => {
    expect(of(drawn("same", 0.3, 30))).toEqual(of(drawn("same", 0.3, 30)));
  });
});
