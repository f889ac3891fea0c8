import { describe, expect, it } from "vitest";
import { FAULT_NAMES } from "./names.ts";
import { readOptions } from "./options.ts";

describe("readOptions", () => {
  it("takes all faults where none is named", () => {
    expect(readOptions([])).toEqual({ requests: 30_000, faults: FAULT_NAMES, seed: 1, from: 0, help: false });
  });

  it("takes a soak in the place of faults", () => {
    expect(readOptions(["--soak", "60"])).toMatchObject({ soakMinutes: 60, faults: [] });
  });

  it("takes hostile inputs in the place of faults", () => {
    expect(readOptions(["--hostile", "100000", "--seed=3", "--from", "40"])).toMatchObject({
      hostile: 100_000,
      seed: 3,
      from: 40,
    });
  });

  it("takes what is given", () => {
    expect(readOptions(["--requests", "1000000", "--faults=edge-killed,disk-full", "--seed", "7"])).toEqual({
      requests: 1_000_000,
      faults: ["edge-killed", "disk-full"],
      seed: 7,
      from: 0,
      help: false,
    });
  });

  it.each([
    [["--requests", "many"], /^--requests must be a whole number from 1000 to 10000000: "many"/],
    [["--requests", "999"], /^--requests must be/],
    [["--requests"], /^--requests needs a value/],
    [["--seed=-1"], /^--seed must be a whole number/],
    [["--hostile", "0"], /^--hostile must be a whole number from 1/],
    [["--hostile", "9", "--faults", "disk-full"], /^--faults does not go with --hostile/],
    [["--hostile", "9", "--requests", "2000"], /^--requests does not go with --hostile/],
    [["--from", "9"], /^--from does not go without --hostile/],
    [["--faults", "rain"], /^--faults: there is no fault "rain"\. There are workerd-killed,/],
    [["--faults", "disk-full,disk-full"], /^--faults: a name is there twice/],
    [["--seed", "1", "--seed", "2"], /^--seed is there twice/],
    [["--rounds", "2"], /^There is no option --rounds/],
    [["--soak", "0"], /^--soak must be a whole number from 1 to 1440: "0"/],
    [["--soak", "60", "--faults", "disk-full"], /^--faults does not go with --soak/],
    [["--soak", "60", "--hostile", "9"], /^--hostile does not go with --soak/],
    [["disk-full"], /^"disk-full" is no option/],
  ])("refuses %j", (argv, said) => {
    expect(() => readOptions(argv)).toThrow(said);
  });
});
