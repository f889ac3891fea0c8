import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { namespaces, ownPrefix } from "../../lab/leftovers.ts";
import { makeNamespace } from "../../lab/namespace.ts";
import { type EmulatedPath, startPath } from "../../lab/path.ts";
import { buildNetpath } from "../../lab/programs.ts";
import { shell } from "../../lab/shell.ts";
import { checkFidelity, type FidelityReport, type Measurement, misses, MUST_HOLD_MBPS } from "./findings.ts";
import { type ProbeEnds, runProbe } from "./probe.ts";
import { busyRatioNow } from "../../lab/cores.ts";
import { type FidelitySetting, fidelitySettings } from "./settings.ts";

export interface FidelityOptions {
  readonly quick?: boolean;
  readonly signal?: AbortSignal;
  /** Begins the names of the two namespaces. */
  readonly prefix?: string;
  /** Is told before each setting is measured. */
  readonly onProgress?: (done: number, of: number) => void;
}

const ADDRESS_A = "10.88.0.1";
const ADDRESS_B = "10.88.0.2";

/**
 * Measures whether the emulated path does what it is asked, by a program that knows nothing of it. Removes all that it
 * makes, also when it throws or is interrupted. @throws UserError
 */
export async function runFidelity(options: FidelityOptions = {}): Promise<FidelityReport> {
  const { signal } = options;
  await buildNetpath();
  signal?.throwIfAborted();
  const prefix = options.prefix ?? `${ownPrefix()}fidelity-`;
  const [a, b] = [`${prefix}a`, `${prefix}b`];
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const made: string[] = [];
  const stack = new AsyncDisposableStack();
  try {
    for (const name of [a, b]) {
      await makeNamespace(name);
      made.push(name);
    }
    const path = await startPath(
      {
        client: a,
        server: b,
        clientAddress: ADDRESS_A,
        clientNetwork: `${ADDRESS_A}/32`,
        serverAddress: ADDRESS_B,
      },
      folder,
      stack,
    );
    const ways = {
      aToB: { from: a, to: b, toAddress: ADDRESS_B },
      bToA: { from: b, to: a, toAddress: ADDRESS_A },
    };
    return checkFidelity(await measureAll(path, ways, options));
  } finally {
    await stack.disposeAsync();
    // One that is gone already must not hide why.
    const existing = new Set(await namespaces());
    for (const name of made) if (existing.has(name)) await shell("ip", "netns", "delete", name);
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureAll(
  path: EmulatedPath,
  ways: Readonly<Record<"aToB" | "bToA", ProbeEnds>>,
  { quick = false, signal, onProgress }: FidelityOptions,
): Promise<Measurement[]> {
  const settings = fidelitySettings(quick);
  const family = settings.filter(({ probe }) => probe.mode === "loss").length;
  const measurements: Measurement[] = [];
  for (const [index, setting] of settings.entries()) {
    onProgress?.(index, settings.length);
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const found = await measureOne(path, ways, setting, { seed: index + 1, family, signal });
      const again = attempt < ATTEMPTS && isTimed(setting) && found.some((one) => misses(one));
      measurements.push(...found.map((one) => ({ ...one, superseded: again })));
      if (!again) break;
    }
  }
  return measurements;
}

/**
 * Another program that has a core for a moment delays packets, and says nothing of the emulator: what is timed and misses
 * its bound is measured again. All measurements are in the table; the last one counts. Losses are not: there it is chance.
 */
const ATTEMPTS = 3;

function isTimed({ probe, asked: direct }: FidelitySetting): boolean {
  return probe.mode !== "loss" && (direct.rateMbps ?? 0) <= MUST_HOLD_MBPS;
}

async function measureOne(
  path: EmulatedPath,
  ways: Readonly<Record<"aToB" | "bToA", ProbeEnds>>,
  setting: FidelitySetting,
  { seed, family, signal }: { seed: number; family: number; signal: AbortSignal | undefined },
): Promise<Measurement[]> {
  // The other direction is left free, so that each is seen apart.
  const free = { delayMs: 0 };
  await path.set({ seed, aToB: free, bToA: free, ...asked(setting) });
  const othersBusyRatio = await busyRatioNow(signal);
  const before = await path.faults();
  const measured = setting.bothWays ? (["aToB", "bToA"] as const) : [setting.direction];
  const results = await Promise.all(measured.map((way) => runProbe(ways[way], setting, family, signal)));
  const after = await path.faults();
  return measured.flatMap((direction, i) => {
    const result = results[i];
    const lost = after[direction] - before[direction];
    return result === undefined ? [] : [{ setting, direction, result, emulatorDrops: lost, othersBusyRatio }];
  });
}

function asked({ direction, bothWays, asked: direct }: FidelitySetting): object {
  return bothWays ? { aToB: direct, bToA: direct } : { [direction]: direct };
}
