import { describe, expect, it } from "vitest";
import { readNumber, readOneOf, readPath, readShare, readVersion, readWhole } from "./values.ts";

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
  () => readVersion("1.5"),
  () => readVersion("-1"),
  () => readVersion("three"),
  () => readWhole("0", "--limit", 1, 100),
  () => readWhole("101", "--limit", 1, 100),
  () => readNumber("fast", "--rtt", 100),
  () => readNumber("-1", "--rtt", 100),
  () => readNumber("101", "--rtt", 100),
  () => readPath("shop/", "--path"),
  () => readOneOf("udp", "--transport", ["tcp", "quic"]),
])("%s is refused", (read) => {
  expect(read).toThrow(/must b/);
});

it("reads what is good", () => {
  expect([readVersion("0"), readNumber("2.5e7", "--rate", 1e9), readPath("/", "--path")]).toEqual([0, 25_000_000, "/"]);
});
