import { expect, it } from "vitest";
import { bool, fieldsOf, float, optionalFloat, readRecord, string } from "./row-schema.ts";

const SCHEMA = { id: string(), round: float, loadMs: optionalFloat, switched: bool };

it("reads back what it wrote, and rounds to microseconds", () => {
  const row = { id: "a/1", round: 2, loadMs: 1.23456789, switched: true };
  const fields = fieldsOf(row, Object.keys(SCHEMA));
  expect(fields).toEqual(["a/1", "2", "1.234568", "true"]);
  const record = Object.fromEntries(Object.keys(SCHEMA).map((name, i) => [name, fields[i]]));
  expect(readRecord(record, SCHEMA)).toEqual({ ...row, loadMs: 1.234568 });
});

it("leaves a number that is not known empty, where it may be unknown", () => {
  const record = { id: "", round: "1", loadMs: "", switched: "false" };
  expect(readRecord(record, SCHEMA)).toEqual({ id: "", round: 1, loadMs: null, switched: false });
  expect(fieldsOf({ id: "", round: 1, loadMs: null, switched: false }, Object.keys(SCHEMA))).toEqual([
    "",
    "1",
    "",
    "false",
  ]);
});

it.each([
  { id: "a", round: "", loadMs: "1", switched: "true" },
  { id: "a", round: "x", loadMs: "1", switched: "true" },
  { id: "a", round: "1", loadMs: "x", switched: "true" },
  { id: "a", round: "1", loadMs: "1", switched: "yes" },
  { id: "a", round: "1", loadMs: "1" },
])("takes %j for no row", (record) => {
  expect(readRecord(record, SCHEMA)).toBeUndefined();
});
