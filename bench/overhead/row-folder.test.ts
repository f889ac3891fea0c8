import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { OVERHEAD_COLUMNS, type OverheadRow } from "./row.ts";
import { openRowFolder, type RowFolder } from "./row-folder.ts";
import { exampleOverheadRow } from "./testing.ts";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "h3-rows-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

const ROWS = [0, 1, 2, 3].map((round) =>
  exampleOverheadRow({
    loop: "open",
    size: "large",
    arm: "adaptive",
    round,
    rate: round === 1 ? null : round / 7,
    latencyP99Ms: 1e-7 * round,
    workerdCpuUs: null,
  }),
);
const open = (asked: object = {}, fresh = false): RowFolder<OverheadRow> =>
  openRowFolder(path, asked, OVERHEAD_COLUMNS, fresh);

it("goes on after a kill at any byte: whole rows stay as they were, half a row goes, what is appended follows", () => {
  const whole = open();
  for (const row of ROWS) whole.append(row);
  whole.close();
  const file = join(path, "rows.csv");
  const bytes = readFileSync(file);
  fc.assert(
    fc.property(fc.nat(bytes.length), (length) => {
      writeFileSync(file, bytes);
      truncateSync(file, length);
      const folder = open();
      const kept = folder.rows.length;
      expect(folder.rows).toEqual(ROWS.slice(0, kept));
      for (const row of ROWS.slice(kept)) folder.append(row);
      folder.close();
      expect(readFileSync(file)).toEqual(bytes);
    }),
  );
});

it("refuses a folder of another question, and says what to do", () => {
  open({ seconds: 1 }).close();
  expect(() => open({ seconds: 2 })).toThrow(/other options.*--fresh.*--out/);
  open({ seconds: 2 }, true).close();
});

it.each(["not,a,row\n", `${"1,".repeat(30)}\n`])("names the line that is no row: %j", (line) => {
  open().close();
  writeFileSync(join(path, "rows.csv"), `${readFileSync(join(path, "rows.csv"), "utf8")}${line}`);
  expect(() => open()).toThrow(/line 2 is no row/);
});

it("refuses rows with other columns", () => {
  open().close();
  writeFileSync(join(path, "rows.csv"), "id,loop\n1,2\n");
  expect(() => open()).toThrow(/line 1 is no row/);
});
