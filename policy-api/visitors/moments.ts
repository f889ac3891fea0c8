import { described, fitting, list, object, type Reader, text } from "../decision/parse.ts";

/**
 * Over clients: how many, the sum of each term, and the sum of each product of two terms (row by row: 00, 01, 02, ..., 11,
 * 12, ...). BigInt: the squares of a million clients are beyond 2^53. So to add, to take out and to merge are exact.
 */
export interface Moments {
  readonly clients: bigint;
  readonly sums: readonly bigint[];
  readonly products: readonly bigint[];
}

export function noMoments(terms: number): Moments {
  return {
    clients: 0n,
    sums: Array.from({ length: terms }, () => 0n),
    products: Array.from({ length: productsOf(terms) }, () => 0n),
  };
}

/** The moments of one client. One whose first term is 0 is no client here. */
export function momentsOf(terms: readonly number[]): Moments {
  if ((terms[0] ?? 0) === 0) return noMoments(terms.length);
  const exact = terms.map(BigInt);
  return {
    clients: 1n,
    sums: exact,
    products: exact.flatMap((a, i) => exact.slice(i).map((b) => a * b)),
  };
}

/** Both together. @param sign -1n takes `b` out of `a` */
export function combined(a: Moments, b: Moments, sign: 1n | -1n = 1n): Moments {
  const plus = (x: readonly bigint[], y: readonly bigint[]): bigint[] =>
    x.map((value, i) => value + sign * (y[i] ?? 0n));
  return { clients: a.clients + sign * b.clients, sums: plus(a.sums, b.sums), products: plus(a.products, b.products) };
}

/** The sum of the products of two terms. */
export function productOf({ sums, products }: Moments, a: number, b: number): bigint {
  const [i, j] = a < b ? [a, b] : [b, a];
  return products[i * sums.length - (i * (i - 1)) / 2 + (j - i)] ?? 0n;
}

function productsOf(terms: number): number {
  return (terms * (terms + 1)) / 2;
}

const readDigits = text(40, /^(0|-?[1-9]\d*)$/, "a whole number as text,");

/** BigInt throws on what is no number, so it sees only what was read. */
const readWhole: Reader<bigint> = described((value, pointer, faults) => {
  const before = faults.length;
  const digits = readDigits(value, pointer, faults);
  return faults.length === before ? BigInt(digits) : 0n;
}, readDigits.schema);

/** Reads moments of so many terms. No number of clients and no sum of squares is below 0. */
export function readMoments(terms: number): Reader<Moments> {
  const products = productsOf(terms);
  return fitting(
    object<Moments>({
      clients: readWhole,
      sums: list(readWhole, terms, terms),
      products: list(readWhole, products, products),
    }),
    (moments, fault) => {
      if (moments.clients < 0n) fault("/clients", "must not be below 0");
      for (let i = 0; i < terms; i++)
        if (productOf(moments, i, i) < 0n) fault("/products", `must not have a sum of squares below 0: term ${i}`);
    },
  );
}
