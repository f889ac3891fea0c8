import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { UserError } from "../../base/user-error.ts";
import { followTrace, readTrace, readTraces } from "./trace.ts";

const folder = mkdtempSync(join(tmpdir(), "traces-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

it("counts the packets of each tenth of a second", () => {
  const trace = readTrace(file("lte.down", "0\n0\n99\n100\n250\n"));
  expect(trace).toMatchObject({ name: "lte", stepMs: 100 });
  // 1,500 bytes in 100 ms are 0.12 Mbit/s.
  expect(trace.rateMbps.map((rate) => Number(rate.toFixed(2)))).toEqual([0.36, 0.12, 0.12]);
});

it("reads mean rates, and gives a file's digest", () => {
  const trace = readTrace(file("wifi.txt", "0.0 24.5\n0.5 7\n1.0 0\n"));
  expect(trace).toMatchObject({ name: "wifi", stepMs: 500, rateMbps: [24.5, 7, 0] });
  expect(trace.sha256).toMatch(/^[0-9a-f]{64}$/);
});

it.each([
  ["no number", "0 x\n1 2\n"],
  ["a rate below 0", "0 1\n1 -2\n"],
  ["times that stand still", "0 1\n0 2\n"],
  ["one line", "0 1\n"],
  ["nothing", ""],
])("refuses %s by the file's name", (_name, text) => {
  expect(() => readTrace(file("bad.txt", text))).toThrow(/bad\.txt is no trace/);
});

describe("a network that follows a trace", () => {
  const trace = { name: "t", sha256: "", stepMs: 500, rateMbps: [4, 4, 0, 2] };

  it("changes where the trace does, repeats it, and never stands still for good", () => {
    expect(followTrace(trace, 15)).toEqual({
      rateMbps: 4,
      delayMs: 15,
      profile: [
        { atMs: 1_000, rateMbps: 0.001, delayMs: 15 },
        { atMs: 1_500, rateMbps: 2, delayMs: 15 },
      ],
      profileRepeatMs: 2_000,
    });
  });
});

it("finds the traces of a folder", () => {
  file("b.txt", "0 1\n1 2\n");
  rmSync(join(folder, "bad.txt"), { force: true });
  file("README.md", "no trace");
  expect(readTraces(folder).map(({ name }) => name)).toEqual(["b", "lte", "wifi"]);
  expect(() => readTraces(join(folder, "none"))).toThrow(UserError);
});
