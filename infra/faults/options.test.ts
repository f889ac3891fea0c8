import { describe, expect, it } from "vitest";
import { FAULT_NAMES } from "./names.ts";
import { readOptions } from "./options.ts";

describe("readOptions", () => {
  it("takes all faults where none is named", () => {
    expect(readOptions([])).toEqual({ requests: 30_000, faults: FAULT_NAMES, seed: 1, help: false });
  });

  it("takes what is given", () => {
    expect(readOptions(["--requests", "1000000", "--faults=edge-killed,disk-full", "--seed", "7"])).toEqual({
      requests: 1_000_000,
      faults: ["edge-killed", "disk-full"],
      seed: 7,
      help: false,
    });
  });

  it.each([
    [["--requests", "many"], /^--requests must be a whole number from 1000 to 10000000: "many"/],
    [["--requests", "999"], /^--requests must be/],
    [["--requests"], /'--requests <value>' argument missing/],
    [["--requests="], /^--requests must be/],
    [["--seed=-1"], /^--seed must be a whole number/],
    [["--faults", "rain"], /^--faults: there is no fault "rain"\. There are nothing,/],
    [["--faults", "disk-full,disk-full"], /^--faults: a name is there twice/],
    [["--rounds", "2"], /'--rounds'/],
    [["disk-full"], /'disk-full'/],
  ])("refuses %j", (argv, said) => {
    expect(() => readOptions(argv)).toThrow(said);
  });
});
