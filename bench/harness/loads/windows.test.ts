import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { PostedSample } from "../../lab/tee.ts";
import { exampleRow } from "../../model/testing.ts";
import { openRows } from "../run-folder.ts";
import { readWindows, WINDOW_POINT, type WindowPoint, WINDOWS_FILE, windowsOf } from "./windows.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "windows-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function append(points: readonly WindowPoint[]): void {
  const file = openRows(join(folder, WINDOWS_FILE), WINDOW_POINT);
  for (const point of points) file.append(point);
  file.close();
}

const row = exampleRow({ id: "cell/fixed-h2/trained/0", startedMs: 1_700_000_000_000.25 });

function line(connectionId: string, atMs: number, congestionWindowBytes: number): string {
  const point = { connectionId, transport: "tcp", atMs, rttMs: 64.5, congestionWindowBytes, bytesSent: 3_000 };
  return `${JSON.stringify(point)}\n`;
}

function sampleOf(connectionId: string): PostedSample {
  return { connectionId, transport: "tcp", atMs: 0, closing: true, clientAddress: "10.0.0.1" };
}

it("takes the points of the load's own connections, numbered, since its start, and no half line", () => {
  const trace = [
    line("other", 1_700_000_000_100, 1),
    line("a", 1_700_000_000_100, 14_480),
    line("b", 1_700_000_000_150, 20_000),
    line("a", 1_700_000_000_150, 28_960),
    '{"connectionId":"a","at',
  ].join("");
  const points = windowsOf(row, [sampleOf("a"), sampleOf("b")], trace);
  expect(points.map(({ connection, atMs, windowBytes }) => [connection, atMs, windowBytes])).toEqual([
    [1, 100, 14_480],
    [2, 150, 20_000],
    [1, 150, 28_960],
  ]);
});

it("reads back what it wrote, of loads that have a row", () => {
  const points = windowsOf(row, [sampleOf("a")], line("a", 1_700_000_000_100, 14_480));
  const cutShort = points.map((point) => ({ ...point, startedMs: point.startedMs - 60_000 }));
  append(cutShort);
  // A run that was killed while it wrote.
  appendFileSync(join(folder, "windows.csv"), "cell/fixed-h2/trai");
  append(points);
  expect(readWindows(folder, [row])).toEqual(points);
  expect(readFileSync(join(folder, "windows.csv"), "utf8").split("\n")).toHaveLength(4);
});

it("has none where nothing was traced", () => {
  expect(readWindows(folder, [row])).toEqual([]);
});
