import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { exampleRow } from "../model/testing.ts";
import { LOAD_ROW, type LoadRow } from "../model/load-row.ts";
import { type Asked, openRunFolder, type RunFolder } from "./run-folder.ts";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "h3-runs-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const open = (asked: Asked = {}, fresh = false): RunFolder<LoadRow> => openRunFolder(path, asked, LOAD_ROW, fresh);

const ROWS = Array.from({ length: 5 }, (_, round) =>
  exampleRow({ id: `a/${round}`, round, loadMs: 1.25 * round, error: 'said "no", twice', switched: round % 2 === 0 }),
);

it("keeps rows as they were", () => {
  const folder = open({ seed: 1 }, false);
  for (const row of ROWS) folder.append(row);
  folder.close();
  const again = open({ seed: 1 }, false);
  expect(again.rows).toEqual(ROWS);
  again.close();
});

it("has rows as its file has them: a report of the run itself is that of its file", () => {
  const folder = open();
  folder.append(exampleRow({ id: "a/0", loadMs: 1 / 3 }));
  expect(folder.rows[0]?.loadMs).toBe(0.333333);
  folder.close();
  const again = open();
  expect(again.rows).toEqual(folder.rows);
  again.close();
});

it("goes on after a kill at any byte: whole rows stay, half a row goes, what is appended follows", () => {
  const whole = open({ seed: 1 }, true);
  for (const row of ROWS) whole.append(row);
  whole.close();
  const file = join(path, "rows.csv");
  const bytes = readFileSync(file);
  fc.assert(
    fc.property(fc.nat(bytes.length), (length) => {
      writeFileSync(file, bytes);
      truncateSync(file, length);
      const folder = open({ seed: 1 }, false);
      const kept = folder.rows.length;
      expect(folder.rows).toEqual(ROWS.slice(0, kept));
      for (const row of ROWS.slice(kept)) folder.append(row);
      folder.close();
      expect(readFileSync(file)).toEqual(bytes);
    }),
  );
});

it("refuses a folder of another question, and says what to do", () => {
  open({ seed: 1 }, false).close();
  expect(() => open({ seed: 2 }, false)).toThrow(/other options.*--fresh.*--out/);
  open({ seed: 2 }, true).close();
});

it.each(["not,a,row\n", `${"1,".repeat(60)}\n`])("names the line that is no row: %j", (line) => {
  open().close();
  writeFileSync(join(path, "rows.csv"), `${readFileSync(join(path, "rows.csv"), "utf8")}${line}`);
  expect(() => open()).toThrow(/line 2 is no row/);
});

it("refuses rows with other columns", () => {
  open().close();
  writeFileSync(join(path, "rows.csv"), "id,cell\n1,2\n");
  expect(() => open()).toThrow(/line 1 is no row/);
});

it("reads a run with columns that no row has any more, in any order, and goes on in the file's", () => {
  open().close();
  const file = join(path, "rows.csv");
  const header = ["gone", ...Object.keys(LOAD_ROW).toReversed()].join(",");
  const written = exampleRow({ id: "a/1", arm: "adaptive" });
  const folder = open();
  folder.append(written);
  folder.close();
  const [, line = ""] = readFileSync(file, "utf8").split("\n");
  const reversed = `x,${line.split(",").toReversed().join(",")}`;
  writeFileSync(file, `${header}\n${reversed}\n`);
  const again = open();
  expect(again.rows).toEqual([written]);
  again.append(written);
  again.close();
  expect(readFileSync(file, "utf8").split("\n")[2]).toBe(reversed.replace(/^x/, ""));
});
