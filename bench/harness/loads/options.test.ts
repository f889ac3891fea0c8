import { commonOptions } from "../run.ts";
import { LOAD_OPTIONS, loadOptions } from "./options.ts";
import { readOptions as read } from "../../model/options.ts";
import { expect, it } from "vitest";

function readOptions(args: readonly string[]) {
  const given = read(args, { ...LOAD_OPTIONS, ...commonOptions("smoke") });
  return { ...given, ...loadOptions(given) };
}

it("knows its defaults", () => {
  expect(readOptions([])).toMatchObject({
    congestions: ["cubic", "bbr"],
    bytes: undefined,
    size: "usual",
    runs: undefined,
    seed: 1,
    lanes: 4,
    quic: "quic-go",
    out: undefined,
    fresh: false,
  });
});

it("reads what is given", () => {
  expect(readOptions(["--congestion", "reno", "--runs", "3", "--bytes", "5000", "--quick"])).toMatchObject({
    congestions: ["reno"],
    runs: 3,
    bytes: 5000,
    size: "quick",
  });
});

it.each([
  [["--runs", "0"], "--runs must be a whole number from 1"],
  [["--bytes", "-5"], "--bytes"],
  [["--bytes=-5"], "--bytes must be a whole number from 1"],
  [["--seed", "x"], "--seed must be a whole number from 0"],
  [["--quic", "msquic"], "--quic must be one of quic-go, quiche-cubic, quiche-bbr2, not msquic"],
  [["--congestion", "vegas"], "--congestion must be one of cubic, bbr, reno, not vegas"],
  [["--quick", "--full"], "exclude each other"],
  [["--rate", "5"], "Known options"],
])("refuses %j and names what is wrong: %s", (args, message) => {
  expect(() => readOptions(args)).toThrow(message);
});
