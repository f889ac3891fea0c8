import { describe, expect, it } from "vitest";
import {
  numberUpTo,
  oneOf,
  readLine,
  readPath,
  readServiceUrl,
  readShare,
  readVersion,
  requireOnly,
  whole,
} from "./options.ts";
import { Failure } from "./failure.ts";

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

const refused = (argv: readonly string[]): string => {
  try {
    readLine(argv);
  } catch (error) {
    if (error instanceof Failure && error.exitCode === 2) return error.message;
  }
  return "not refused";
};

describe("readLine", () => {
  it("takes options before, between and after words", () => {
    expect(readLine(["--json", "activate", "--share", "5%", "3", "--note=--now--", "--yes"])).toEqual({
      words: ["activate", "3"],
      options: { json: true, share: 0.05, note: "--now--", yes: true },
    });
  });

  it.each([
    [["list", "--limt", "3"], "There is no option --limt: --limit?"],
    [["list", "-x"], "There is no option -x"],
    [["list", "--limit", "3", "--limit", "4"], "--limit is there twice."],
    [["list", "--limit"], "--limit wants a value."],
    [["push", "a.json", "--note", "--json"], "--note wants a value."],
    [["push", "a.json", "--note="], "--note wants a value."],
    [["kill", "--yes=no"], "--yes takes no value."],
  ])("refuses %j", (argv, sentence) => {
    expect(refused(argv)).toBe(sentence);
  });

  it.each([["--token", "s3cret"], ["--token=s3cret"]])("refuses a token, and does not repeat it: %s", (...token) => {
    const sentence = refused(["status", ...token]);
    expect(sentence).toContain("ps shows it");
    expect(sentence).toContain("H3_TOKEN_FILE");
    expect(sentence).not.toContain("s3cret");
  });
});

it("an option that a command does not take is refused, with those that it takes", () => {
  expect(() => requireOnly({ share: 0.05 }, ["limit"], "list")).toThrow(
    "`list` takes no --share; it takes --help, --json, --url, --token-file, --ca, --limit.",
  );
  expect(() => requireOnly({ json: true, limit: 3 }, ["limit"], "list")).not.toThrow();
});
