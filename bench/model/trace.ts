import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import type { Network } from "./cell.ts";

/** The rate of a recorded link over time. */
export interface RateTrace {
  readonly name: string;
  /** Of the file, hexadecimal. */
  readonly sha256: string;
  readonly stepMs: number;
  /** Mbit/s, of each step. */
  readonly rateMbps: readonly number[];
}

/** What one line of a packet trace lets through, bytes (mahimahi's format). */
const PACKET_BYTES = 1_500;
/** Packets of so long are one step of a packet trace: a page takes longer, and a step has several packets. */
const PACKET_STEP_MS = 100;
/** A rate of 0 is no limit to the emulator: this lets a packet through in 12 s. */
const LEAST_MBPS = 0.001;

/** A packet trace: each line is the millisecond at which a packet of 1,500 bytes may leave (mahimahi). */
function packetRates(lines: readonly string[]): Pick<RateTrace, "stepMs" | "rateMbps"> {
  const times = lines.map(Number);
  const steps = Math.ceil(((times.at(-1) ?? 0) + 1) / PACKET_STEP_MS);
  const packets = Array.from({ length: steps }, () => 0);
  for (const ms of times) {
    const step = Math.floor(ms / PACKET_STEP_MS);
    packets[step] = (packets[step] ?? Number.NaN) + 1;
  }
  return {
    stepMs: PACKET_STEP_MS,
    rateMbps: packets.map((count) => (count * PACKET_BYTES * 8) / (1_000 * PACKET_STEP_MS)),
  };
}

/** A rate trace: each line is a time in seconds and the mean rate from then on, Mbit/s. Times are evenly apart. */
function meanRates(lines: readonly string[]): Pick<RateTrace, "stepMs" | "rateMbps"> {
  const rows = lines.map((line) => line.split(/\s+/).map(Number));
  return {
    stepMs: 1_000 * ((rows[1]?.[0] ?? Number.NaN) - (rows[0]?.[0] ?? Number.NaN)),
    rateMbps: rows.map((row) => row[1] ?? Number.NaN),
  };
}

/** Reads a trace: a packet trace (`.down`), or a rate trace. @throws UserError naming the file */
export function readTrace(file: string): RateTrace {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(`${file} is no trace: ${(error as Error).message}`);
  }
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const read = extname(file) === ".down" ? packetRates(lines) : meanRates(lines);
  const isWhole = [read.stepMs, ...read.rateMbps].every((value) => value >= 0 && Number.isFinite(value));
  if (!isWhole || !(read.stepMs > 0) || read.rateMbps.length < 2)
    throw new UserError(`${file} is no trace: every line must have numbers from 0 on, evenly apart in time.`);
  const name = basename(file, extname(file)).replaceAll(/[^\w.-]/g, "-");
  return { name, sha256: createHash("sha256").update(text).digest("hex"), ...read };
}

/** All traces of a folder and of the folders in it, by name. @throws UserError */
export function readTraces(folder: string): RateTrace[] {
  let files: string[];
  try {
    files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (error) {
    throw new UserError(`${folder} has no traces: ${(error as Error).message}`);
  }
  const traces = files.filter((file) => file.endsWith(".down") || file.endsWith(".txt")).toSorted();
  if (traces.length === 0) throw new UserError(`${folder} has no traces: no file ends with .down or .txt.`);
  return traces.map((file) => readTrace(join(folder, file)));
}

/** A network whose rate is a trace's, in both directions, again and again. */
export function followTrace(
  { stepMs, rateMbps }: RateTrace,
  delayMs: number,
): Pick<Network, "rateMbps" | "delayMs" | "profile" | "profileRepeatMs"> {
  const rates = rateMbps.map((rate) => Math.max(rate, LEAST_MBPS));
  return {
    rateMbps: rates[0] ?? LEAST_MBPS,
    delayMs,
    // Only where it changes: a step is a command to the emulator.
    profile: rates.flatMap((rate, i) =>
      i > 0 && rate !== rates[i - 1] ? [{ atMs: i * stepMs, rateMbps: rate, delayMs }] : [],
    ),
    profileRepeatMs: rates.length * stepMs,
  };
}
