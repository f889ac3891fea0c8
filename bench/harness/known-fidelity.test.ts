import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fidelityAt } from "./machine.ts";
import { exampleStart } from "./loads/testing.ts";

let recorded: string;
beforeEach(() => {
  recorded = mkdtempSync(join(tmpdir(), "h3-fidelity-"));
});
afterEach(() => rmSync(recorded, { recursive: true }));

const START = { ...exampleStart(), at: "2026-11-20T20:32:00Z" };
const record = (date: string, kernel = START.machine.kernel): void =>
  writeFileSync(
    join(recorded, "summary.json"),
    JSON.stringify({ date, limitMbps: 600, ok: true, machine: { ...START.machine, kernel } }),
  );

it("tells what the start itself kept, whatever was recorded", () => {
  record("2026-11-20");
  const fidelity = { date: "2026-11-19", limitMbps: 300 };
  expect(fidelityAt({ ...START, fidelity }, recorded)).toEqual(fidelity);
});

it("tells what was recorded on the start's machine by then, where the start kept nothing", () => {
  expect(fidelityAt(START, recorded)).toBeUndefined();
  record("2026-11-20");
  expect(fidelityAt(START, recorded)).toEqual({ date: "2026-11-20", limitMbps: 600 });
  record("2026-11-21");
  expect(fidelityAt(START, recorded)).toBeUndefined();
  record("2026-11-20", "another kernel");
  expect(fidelityAt(START, recorded)).toBeUndefined();
});
