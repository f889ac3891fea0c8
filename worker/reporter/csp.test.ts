import { expect, it } from "vitest";
import { allowsReporter } from "./csp.ts";

it.each([
  [true, null],
  [true, "script-src 'self'; connect-src 'self'"],
  [true, "default-src 'self'"],
  [true, "DEFAULT-SRC 'SELF'"],
  [true, "img-src 'none'; object-src 'none'"],
  [true, "script-src 'none'; script-src-elem 'self'; connect-src *"],
  [true, "script-src https: 'unsafe-inline'; connect-src https:"],
  [true, "script-src 'self' 'nonce-abc'"],
  // The first of two counts.
  [true, "script-src 'self'; script-src 'none'"],
  [false, "default-src 'none'"],
  [false, "default-src 'none'; script-src 'self'"],
  [false, "script-src 'self'; connect-src https://metrics.example"],
  [false, "script-src https://cdn.example"],
  [false, "script-src 'nonce-abc'"],
  // With it, only scripts with the nonce, and those that they load.
  [false, "script-src 'self' 'nonce-abc' 'strict-dynamic'"],
  [false, "sandbox allow-scripts"],
  [false, "script-src 'self', script-src 'none'"],
])("%s: %s", (expected, policy) => {
  for (const name of ["content-security-policy", "content-security-policy-report-only"])
    expect(allowsReporter(new Headers(policy === null ? {} : { [name]: policy }))).toBe(expected);
});
