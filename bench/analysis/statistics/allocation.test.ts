import { describe, expect, it } from "vitest";
import { judge, type Judgement, plannedLooks } from "./allocation.ts";
import { seededRandom } from "./random.ts";
import { lognormal } from "./testing.ts";

/** What a sequential experiment answers, and with how many runs. */
function experiment(
  arms: { a: { mean: number; cv: number }; b: { mean: number; cv: number }; min: number; cap: number },
  name: string,
): { answer: Judgement["verdict"]; runs: number } {
  const random = seededRandom(name);
  const a = lognormal(arms.cap, arms.a, random);
  const b = lognormal(arms.cap, arms.b, random);
  for (const n of plannedLooks(arms.min, arms.cap)) {
    const { min, cap } = arms;
    const { verdict } = judge({ a: a.slice(0, n), b: b.slice(0, n), min, cap, random: seededRandom(name, n) });
    if (verdict !== "more") return { answer: verdict, runs: n };
  }
  throw new Error("the cap gives an answer");
}

describe("answers", () => {
  const plain = { min: 10, cap: 100 };

  it("says which is faster after the first look where that is plain", () => {
    const fast = { mean: 100, cv: 0.1 };
    const slow = { mean: 200, cv: 0.1 };
    expect(experiment({ ...plain, a: fast, b: slow }, "plain")).toEqual({ answer: "a", runs: 10 });
    expect(experiment({ ...plain, a: slow, b: fast }, "plain")).toEqual({ answer: "b", runs: 10 });
  });

  it("calls a tie at the cap, and not before", () => {
    const arm = { mean: 100, cv: 0.3 };
    expect(experiment({ ...plain, a: arm, b: arm }, "tie")).toEqual({ answer: "tie", runs: 100 });
  });

  it.each([
    { name: "light", cvA: 0.3, cvB: 0.3 },
    { name: "heavy", cvA: 1.2, cvB: 1.2 },
    { name: "heavy beside light", cvA: 0.3, cvB: 1.2 },
  ])("errs in hardly 5 % of experiments with equal means, looks and all: $name", ({ name, cvA, cvB }) => {
    const experiments = 60;
    let errors = 0;
    for (let done = 0; done < experiments; done++) {
      const a = { mean: 100, cv: cvA };
      const { answer } = experiment({ min: 20, cap: 45, a, b: { mean: 100, cv: cvB } }, `${name} ${done}`);
      if (answer !== "tie") errors += 1;
    }
    // README.md has the rates of more experiments; three standard errors of 60 are 8 %.
    expect(errors / experiments).toBeLessThan(0.13);
  });
});

describe("looks", () => {
  const random = (): (() => number) => seededRandom("looks");
  const a = lognormal(30, { mean: 100, cv: 0.3 }, seededRandom("a"));
  const b = lognormal(30, { mean: 104, cv: 0.3 }, seededRandom("b"));
  const at = (n: number, m = n): ReturnType<typeof judge> =>
    judge({ a: a.slice(0, n), b: b.slice(0, m), min: 10, cap: 100, random: random() });

  it("waits for the first", () => {
    expect(at(9)).toEqual({ verdict: "more", nextRuns: 10 });
  });

  it("learns nothing between two of them", () => {
    expect(at(15)).toEqual({ verdict: "more", nextRuns: 23 });
    expect(at(22)).toEqual(at(15));
    expect(at(30, 16)).toEqual(at(15));
  });
});
