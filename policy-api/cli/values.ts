import { misused } from "./failure.ts";

/** Reads the value of an option or an argument. Throws a Failure that names the option. */
export type Read<T> = (text: string, option: string) => T;

/** Applies a function to a value, if there is one. */
export function ifGiven<V, T>(value: V | undefined, then: (value: V) => T): T | undefined {
  return value === undefined ? undefined : then(value);
}

/** For a text that is not what it must be. */
function mustBe(what: string, option: string, text: string): Error {
  return misused(`${option} must ${what}, and is ${JSON.stringify(text)}.`);
}

export const readText: Read<string> = (text) => text;

/** A share or a ratio: `5%` or 0.05. A bare 1 or 5 is refused, as it could be either. */
export const readShare: Read<number> = (text, option) => {
  const inPercent = /^(\d+(?:\.\d+)?) ?%$/.exec(text)?.[1];
  // Not by division: 2.9 / 100 is not 0.029.
  const share = inPercent === undefined ? Number(text) : Number(`${inPercent}e-2`);
  const isPlain = inPercent !== undefined || /^0(\.\d+)?$|^\.\d+$/.test(text);
  if (!isPlain || !(share >= 0 && share <= 1))
    throw mustBe("be a share such as 5% or 0.05, from 0% to 100%", option, text);
  return share;
};

/** A number from 0 to this. */
export function numberUpTo(max: number): Read<number> {
  return (text, option) => {
    const value = /^\d+(\.\d+)?(e\d+)?$/i.test(text) ? Number(text) : Number.NaN;
    if (!(value <= max)) throw mustBe(`be a number from 0 to ${max}`, option, text);
    return value;
  };
}

/** How many: 2500000, 2.5M, 800k. Up to a trillion. */
export const readAmount: Read<number> = (text, option) => {
  const [, digits, unit = ""] = /^(\d+(?:\.\d+)?)([kMG]?)$/.exec(text) ?? [];
  const value = Number(digits) * { "": 1, k: 1e3, M: 1e6, G: 1e9 }[unit as "" | "k" | "M" | "G"];
  if (!(value >= 1 && value <= 1e12)) throw mustBe("be a number such as 2500000, 800k or 2.5M", option, text);
  return value;
};

export function whole(min: number, max: number): Read<number> {
  return (text, option) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) throw mustBe(`be a whole number from ${min} to ${max}`, option, text);
    return value;
  };
}

/** The number of a version of the policy. Version 0 is the initial one. */
export const readVersion = whole(0, Number.MAX_SAFE_INTEGER);

export const readPath: Read<string> = (text, option) => {
  if (!text.startsWith("/")) throw mustBe("begin with a slash", option, text);
  return text;
};

export const readHost: Read<string> = (text, option) => {
  if (!/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+$/.test(text))
    throw mustBe("be a host name such as www.example.com", option, text);
  return text;
};

/** Over plain http only what is on this machine is asked. */
export const readServiceUrl: Read<string> = (text, option) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = url?.hostname === "localhost" || url?.hostname === "127.0.0.1";
  if (url?.protocol !== "https:" && !(url?.protocol === "http:" && isLocal))
    throw mustBe("be an address such as https://dns.example/dns-query", option, text);
  return url.href;
};

export function oneOf<const T extends string>(allowed: readonly T[]): Read<T> {
  return (text, option) => {
    const found = allowed.find((one) => one === text);
    if (found === undefined) throw mustBe(`be ${allowed.join(" or ")}`, option, text);
    return found;
  };
}
