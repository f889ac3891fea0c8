import { misused } from "./failure.ts";

// Values of options and arguments. The readers throw a Failure that names the option.

/** What a value becomes where there is one. */
export function ifGiven<V, T>(value: V | undefined, then: (value: V) => T): T | undefined {
  return value === undefined ? undefined : then(value);
}

/** A share or a ratio: `5%`, or 0.05. A bare 1 or 5 could be either, and is not guessed at. */
export function readShare(text: string, option: string): number {
  const inPercent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1];
  // By the exponent: 2.9 / 100 is not 0.029.
  const share = inPercent === undefined ? Number(text) : Number(`${inPercent}e-2`);
  const isPlain = inPercent !== undefined || /^0(\.\d+)?$|^\.\d+$/.test(text);
  if (!isPlain || !(share >= 0 && share <= 1))
    throw misused(`${option} must be a share such as 5% or 0.05, from 0% to 100%, and is ${JSON.stringify(text)}.`);
  return share;
}

export function readNumber(text: string, option: string, max: number): number {
  const value = /^\d+(\.\d+)?(e\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  if (!(value <= max)) throw misused(`${option} must be a number from 0 to ${max}, and is ${JSON.stringify(text)}.`);
  return value;
}

export function readWhole(text: string, option: string, min: number, max: number): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= max))
    throw misused(`${option} must be a whole number from ${min} to ${max}, and is ${JSON.stringify(text)}.`);
  return value;
}

/** Of a policy; 0 is the initial one. */
export function readVersion(text: string, option = "The version"): number {
  return readWhole(text, option, 0, Number.MAX_SAFE_INTEGER);
}

export function readPath(text: string, option: string): string {
  if (!text.startsWith("/")) throw misused(`${option} must begin with a slash, and is ${JSON.stringify(text)}.`);
  return text;
}

export function readOneOf<const T extends string>(text: string, option: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === text);
  if (found === undefined) throw misused(`${option} must be ${allowed.join(" or ")}, and is ${JSON.stringify(text)}.`);
  return found;
}
