import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { residentBytes } from "./machine.ts";

/** What the two programs hold at a moment. */
export interface Reading {
  /** Since the start of the load. */
  readonly minute: number;
  /** The most that was in memory in the minute before, MB (10^6 bytes). */
  readonly workerdMB: number;
  readonly edgeMB: number;
  /** The most descriptors that were open in the minute before. */
  readonly workerdDescriptors: number;
  readonly edgeDescriptors: number;
  /** The rows of the objects on disk. */
  readonly rows: number;
}

export interface Watched {
  readonly workerdPid: () => number;
  readonly edgePid: () => number;
  /** The folder of the objects' files. */
  readonly objectsDir: string;
}

const EACH_MS = 1_000;
/** The end is compared with the reading after this share of the run. In a shorter run the programs have not settled by then. */
const SETTLED_SHARE = 1 / 6;
export const JUDGED_FROM_MINUTES = 30;
/** At the end there may be this many times as much as when it had settled, and a little. */
const GROWTH = 1.25;
const SPARE_MB = 16;
const SPARE_DESCRIPTORS = 32;

/** Reads once a second until so many minutes are over or `interrupted` says so, and returns a reading for each minute. */
export async function watch(
  watched: Watched,
  minutes: number,
  interrupted: { readonly happened: boolean },
  say: (reading: Reading) => void,
): Promise<Reading[]> {
  const readings: Reading[] = [];
  const beganMs = Date.now();
  for (let minute = 1; minute <= minutes && !interrupted.happened; minute++) {
    const most = { workerdMB: 0, edgeMB: 0, workerdDescriptors: 0, edgeDescriptors: 0 };
    while (Date.now() < beganMs + minute * 60_000 && !interrupted.happened) {
      const [workerd, edge] = [holds(watched.workerdPid()), holds(watched.edgePid())];
      most.workerdMB = Math.max(most.workerdMB, workerd.MB);
      most.edgeMB = Math.max(most.edgeMB, edge.MB);
      most.workerdDescriptors = Math.max(most.workerdDescriptors, workerd.descriptors);
      most.edgeDescriptors = Math.max(most.edgeDescriptors, edge.descriptors);
      await pause(EACH_MS);
    }
    const reading = { minute, ...most, rows: countRows(watched.objectsDir) };
    readings.push(reading);
    say(reading);
  }
  return readings;
}

/** What grew from when the run had settled to its end, as sentences. A run below JUDGED_FROM_MINUTES is not judged. */
export function growth(readings: readonly Reading[]): string[] {
  if (readings.length < JUDGED_FROM_MINUTES) return [];
  const settled = readings[Math.max(0, Math.round(readings.length * SETTLED_SHARE) - 1)];
  const end = readings.at(-1);
  if (settled === undefined || end === undefined) return [];
  return (["workerdMB", "edgeMB", "workerdDescriptors", "edgeDescriptors"] as const).flatMap((name) => {
    const spare = name.endsWith("MB") ? SPARE_MB : SPARE_DESCRIPTORS;
    return end[name] <= settled[name] * GROWTH + spare
      ? []
      : [`${name} grew from ${settled[name]} in minute ${settled.minute} to ${end[name]} in minute ${end.minute}`];
  });
}

function holds(pid: number): { MB: number; descriptors: number } {
  const MB = Math.round(residentBytes(pid) / 1e6);
  try {
    return { MB, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return { MB, descriptors: 0 }; // it ended, and another one takes its place
  }
}

/** Counts the rows of all tables of all objects. */
function countRows(objectsDir: string): number {
  const files = readdirSync(objectsDir, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".sqlite"),
  );
  return files.reduce((rows, file) => {
    const database = new DatabaseSync(join(objectsDir, file), { readOnly: true, timeout: 5_000 });
    try {
      const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
      return tables.reduce((sum, { name }) => {
        const [counted] = database.prepare(`SELECT count(*) AS n FROM "${String(name)}"`).all();
        return sum + Number(counted?.["n"]);
      }, rows);
    } finally {
      database.close();
    }
  }, 0);
}
