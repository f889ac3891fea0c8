import { describe, expect, it } from "vitest";
import { numberUpTo, oneOf, readPath, readServiceUrl, readShare, readVersion, whole } from "./values.ts";

describe("readShare", () => {
  it.each([
    ["5%", 0.05],
    ["5 %", 0.05],
    ["2.9%", 0.029],
    ["0.1%", 0.001],
    ["100%", 1],
    ["0%", 0],
    ["0.05", 0.05],
    [".5", 0.5],
    ["0", 0],
  ])("%s", (text, share) => {
    expect(readShare(text, "--share")).toBe(share);
  });

  // Whether 1 is all or one of a hundred is not to be guessed.
  it.each(["1", "5", "101%", "-5%", "five", "5%%", "0x1", "1e-2", " 5%"])("%j is refused", (text) => {
    expect(() => readShare(text, "--share")).toThrow("--share must be a share such as 5% or 0.05");
  });
});

it.each([
  () => readVersion("1.5", "The version"),
  () => readVersion("-1", "The version"),
  () => readVersion("three", "The version"),
  () => whole(1, 100)("0", "--limit"),
  () => whole(1, 100)("101", "--limit"),
  () => numberUpTo(100)("fast", "--rtt"),
  () => numberUpTo(100)("-1", "--rtt"),
  () => numberUpTo(100)("101", "--rtt"),
  () => readPath("shop/", "--path"),
  () => oneOf(["tcp", "quic"])("udp", "--transport"),
  () => readServiceUrl("dns.example", "--resolver"),
  () => readServiceUrl("http://dns.example/dns-query", "--resolver"),
])("%s is refused", (read) => {
  expect(read).toThrow(/must b/);
});

it("reads what is good", () => {
  expect([readVersion("0", "The version"), numberUpTo(1e9)("2.5e7", "--rate"), readPath("/", "--path")]).toEqual([
    0,
    25_000_000,
    "/",
  ]);
});
