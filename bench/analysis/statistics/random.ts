/** Uniform numbers, 0 inclusive to 1 exclusive. `Math.random` fits, but then nothing can be repeated. */
export type Random = () => number;

const UINT64 = (1n << 64n) - 1n;

/**
 * The stream of random numbers that belongs to a seed and a name such as ("cell", rateMbps, lossRatio, "h3"). Streams of
 * different names are independent, so that a cell's figures do not depend on which cells were done before it.
 */
export function seededRandom(seed: string | number, ...name: readonly (string | number)[]): Random {
  // JSON keeps ("a", "b") and ("ab") apart. 64 bits: with 32, ten thousand cells would share a stream now and then.
  let state = fnv1a64(JSON.stringify([seed, ...name]));
  const next = (): bigint => {
    state = (state + 0x9e3779b97f4a7c15n) & UINT64;
    return splitMix64(state);
  };
  const first = next();
  const second = next();
  const word = (value: bigint): number => Number(value & 0xffffffffn);
  const draw = xoshiro128([word(first), word(first >> 32n), word(second), word(second >> 32n)]);
  return () => draw() / 0x1_0000_0000;
}

/**
 * xoshiro128** 1.1 (Blackman and Vigna, "Scrambled Linear Pseudorandom Number Generators", 2021): 32-bit outputs, period
 * 2^128 - 1. Turned down: PCG32, which needs 64-bit products that JavaScript has only as slow BigInt.
 */
export function xoshiro128(seed: readonly [number, number, number, number]): () => number {
  let [s0, s1, s2, s3] = seed;
  return () => {
    const product = Math.imul(s1, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= shifted;
    s3 = (s3 << 11) | (s3 >>> 21);
    return result;
  };
}

/** The output function of SplitMix64 (Steele, Lea and Flood 2014), which the authors of xoshiro advise for seeding. */
export function splitMix64(state: bigint): bigint {
  let mixed = ((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n) & UINT64;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & UINT64;
  return mixed ^ (mixed >> 31n);
}

/** FNV-1a, 64 bits, of the UTF-8 bytes (Fowler, Noll, Vo; RFC 9923). */
export function fnv1a64(text: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & UINT64;
  return hash;
}

/** A whole number from 0 to below `below` (at most 2^21 or so: the bias of scaling 32 bits stays under 1 in 2,000). */
export function integer(below: number, random: Random): number {
  return Math.floor(random() * below);
}

/** A draw from the standard normal (Box and Muller 1958; the second of the pair is dropped, so that it keeps no state). */
export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** A new array in random order: one item after another drawn from those that are left. */
export function shuffle<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  const shuffled: T[] = [];
  while (left.length > 0) shuffled.push(...left.splice(integer(left.length, random), 1));
  return shuffled;
}

/** Cuts a sample into two halves at random. */
export function halve<T>(values: readonly T[], random: Random): readonly [readonly T[], readonly T[]] {
  const shuffled = shuffle(values, random);
  // Which half gets the odd one is drawn too: else the second would always be the larger.
  const middle = Math.floor(values.length / 2) + (values.length % 2 === 1 && random() < 0.5 ? 1 : 0);
  return [shuffled.slice(0, middle), shuffled.slice(middle)];
}

/** As many values, drawn with replacement. */
export function resampled<T>(values: readonly T[], random: Random): T[] {
  return values.map(() => values[integer(values.length, random)] as T);
}
