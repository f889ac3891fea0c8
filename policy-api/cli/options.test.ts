import { describe, expect, it } from "vitest";
import { Failure } from "./failure.ts";
import { readLine, requireOnly } from "./options.ts";

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
