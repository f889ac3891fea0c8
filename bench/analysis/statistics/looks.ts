import { normalCdf, normalQuantile } from "./normal.ts";

/**
 * At how many runs an arm is looked at: from `min` to `cap`, `step` runs apart, or without a step each look with half as
 * many runs again as the last: equal steps look often where little is new, doubling overshoots what a plain answer needs.
 */
export function plannedLooks(min: number, cap: number, step?: number): readonly number[] {
  const looks: number[] = [];
  const after = (n: number): number => (step === undefined ? Math.ceil(n * 1.5) : n + Math.max(1, Math.ceil(step)));
  // A growing plan ends early rather than spend error on a look just before the last.
  const end = step === undefined ? cap / 1.2 : cap;
  for (let n = Math.max(2, Math.ceil(min)); n < end; n = after(n)) looks.push(n);
  return [...looks, Math.max(2, Math.floor(cap))];
}

/**
 * The confidence of the interval at each look, so that under equality some interval excludes it in `error` of all
 * experiments: Pocock's constant boundary (1977), computed for these very looks by the recursion of Armitage, McPherson
 * and Rowe (1969). Turned down: O'Brien and Fleming's, which makes early answers nearly impossible, and early plain
 * answers are what looking is for here; and error / looks (Bonferroni), whose last interval is a tenth wider.
 */
export function confidencePerLook(looks: readonly number[], error = 0.05): number {
  const key = `${error}:${looks.join()}`;
  const known = computed.get(key);
  if (known !== undefined) return known;
  let low = normalQuantile(1 - error / 2);
  let high = normalQuantile(1 - error / 2 / looks.length) + 0.01;
  for (let step = 0; step < 20; step++) {
    const bound = (low + high) / 2;
    if (crossing(looks, bound) > error) low = bound;
    else high = bound;
  }
  const confidence = 2 * normalCdf((low + high) / 2) - 1;
  computed.set(key, confidence);
  return confidence;
}

const computed = new Map<string, number>();

const POINTS = 161;

/** The probability that a standardised sum leaves (-bound, bound) at one of the looks. */
function crossing(looks: readonly number[], bound: number): number {
  let within: { at: number[]; weight: number[] } | undefined;
  let before = 0;
  let stays = 1;
  for (const n of looks) {
    const edge = bound * Math.sqrt(n);
    const spread = Math.sqrt(n - before);
    const step = (2 * edge) / (POINTS - 1);
    const at = Array.from({ length: POINTS }, (_, index) => -edge + index * step);
    const density = at.map((sum) => {
      if (within === undefined) return gauss(sum / spread) / spread;
      let total = 0;
      for (const [index, earlier] of within.at.entries())
        total += (within.weight[index] ?? 0) * gauss((sum - earlier) / spread);
      return total / spread;
    });
    // Simpson's rule: 161 points give Pocock's table to three places.
    const weight = density.map((value, index) => {
      const simpson = index === 0 || index === POINTS - 1 ? 1 : index % 2 === 1 ? 4 : 2;
      return (value * simpson * step) / 3;
    });
    within = { at, weight };
    stays = weight.reduce((sum, value) => sum + value, 0);
    before = n;
  }
  return 1 - stays;
}

function gauss(z: number): number {
  return Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
}
