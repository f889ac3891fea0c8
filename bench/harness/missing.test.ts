import { expect, it } from "vitest";
import { makeMissing, shareMade } from "./missing.ts";

const ALL = ["a", "b", "c", "d"].map((id) => ({ id }));

function runOf(...made: string[]) {
  const rows = made.map((id) => ({ id }));
  const shown: [number, string][] = [];
  const stop = new AbortController();
  const folder = {
    path: "",
    rows,
    append: (row: { id: string }) => rows.push(row),
    write: () => undefined,
    close: () => undefined,
  };
  const progress = { show: (share: number, what: string) => shown.push([share, what]), end: () => undefined };
  return { folder, shown, stop, rows, run: { folder, progress, signal: stop.signal } };
}

it("makes what has no row, with the rows of others before its own", async () => {
  const { run, rows, shown } = runOf("b", "another");
  expect(shareMade(ALL, rows)).toBe(0.25);
  await makeMissing(ALL, run, ({ id }) => Promise.resolve([{ id: `beside ${id}` }, { id }]));
  expect(rows.slice(2).map(({ id }) => id)).toEqual(["beside a", "a", "beside c", "c", "beside d", "d"]);
  expect(shown).toEqual([
    [0.25, "a"],
    [0.5, "c"],
    [0.75, "d"],
  ]);
  expect(shareMade(ALL, rows)).toBe(1);
});

it("ends where a measurement was interrupted, and begins none after", async () => {
  const { run, rows, stop } = runOf();
  await makeMissing(ALL, run, ({ id }) => Promise.resolve(id === "c" ? undefined : [{ id }]));
  expect(rows).toEqual([{ id: "a" }, { id: "b" }]);
  stop.abort();
  await makeMissing(ALL, run, () => Promise.reject(new Error("It was begun.")));
});
