import { csvParse } from "d3-dsv";
import { expect, it } from "vitest";
import { toCsv } from "./csv.ts";

it("writes a header and a line for each row, in the columns' order", () => {
  expect(toCsv([{ b: 2, a: "one" }], ["a", "b"])).toBe("a,b\none,2\n");
});

it("leaves empty what is unknown", () => {
  expect(toCsv([{ a: undefined, b: Number.NaN }], ["a", "b"])).toBe("a,b\n,\n");
});

it("can be read back, quotes, commas and line feeds included (RFC 4180 section 2)", () => {
  const rows = [{ text: 'said "no", twice\nand again', ok: "true" }];
  expect([...csvParse(toCsv(rows, ["text", "ok"]))]).toEqual(rows);
});
