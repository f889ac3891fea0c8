import { normal, type Random } from "./random.ts";

/** Lognormal values of a given mean and coefficient of variation: what lossy load times look like. */
export function lognormal(n: number, { mean, cv }: { mean: number; cv: number }, random: Random): number[] {
  const variance = Math.log(1 + cv * cv);
  return Array.from({ length: n }, () => mean * Math.exp(Math.sqrt(variance) * normal(random) - variance / 2));
}
