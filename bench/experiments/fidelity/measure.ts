import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { makeRunFolder, ownPrefix, removeLeftovers, removeOwnNamespaces } from "../../lab/leftovers.ts";
import { makeNamespace } from "../../lab/namespace.ts";
import { type EmulatedPath, startPath } from "../../lab/path.ts";
import { buildNetpath, PATHPROBE_PROGRAM } from "../../lab/programs.ts";
import { type FidelityRow, type Measurement, MUST_HOLD_MBPS, rowsOf } from "./findings.ts";
import { packetsOf } from "./packets.ts";
import { type FidelitySetting, fidelitySettings, QUEUE_MS, type Way } from "./settings.ts";
import type { Stamps } from "./stamps.ts";

const execute = promisify(execFile);

/** The ends of the path. */
const A = { name: `${ownPrefix()}fidelity-a`, address: "10.88.0.1" };
const B = { name: `${ownPrefix()}fidelity-b`, address: "10.88.0.2" };

/**
 * Another program that has a core for a moment delays packets, and says nothing of the emulator: what is timed and misses
 * its bound is measured again. All measurements are in the table; the last one counts. Losses are not: there it is chance.
 */
const ATTEMPTS = 3;

interface Lab {
  readonly path: EmulatedPath;
  readonly folder: string;
  readonly signal: AbortSignal;
}

/**
 * Measures whether the emulated path does what it is asked, by a program that knows nothing of it. Removes all that it
 * makes, also when it throws or is interrupted. @throws UserError
 */
export async function measureFidelity(
  quick: boolean,
  signal: AbortSignal,
  onProgress: (share: number) => void,
): Promise<FidelityRow[]> {
  await buildNetpath();
  await removeLeftovers();
  signal.throwIfAborted();
  const stack = new AsyncDisposableStack();
  try {
    const { path: folder, remove } = makeRunFolder();
    stack.defer(remove);
    stack.defer(removeOwnNamespaces);
    for (const { name } of [A, B]) await makeNamespace(name);
    const network = { clientAddress: A.address, clientNetwork: `${A.address}/32`, serverAddress: B.address };
    const path = await startPath({ client: A.name, server: B.name, ...network }, folder, stack);
    const settings = fidelitySettings(quick);
    const family = settings.filter(({ probe }) => probe.mode === "loss").length;
    const all: FidelityRow[] = [];
    for (const [index, setting] of settings.entries()) {
      onProgress(index / settings.length);
      const isTimed = setting.probe.mode !== "loss" && (setting.asked.rateMbps ?? 0) <= MUST_HOLD_MBPS;
      for (let attempts = isTimed ? ATTEMPTS : 1; attempts > 0; attempts--) {
        const found = await measure(setting, index + 1, { path, folder, signal });
        const rows = found.flatMap((one) => rowsOf(one, family));
        const isLast = attempts === 1 || rows.every(({ ok }) => ok);
        all.push(...(isLast ? rows : rows.map(superseded)));
        if (isLast) break;
      }
    }
    return all;
  } finally {
    await stack.disposeAsync();
  }
}

function superseded(row: FidelityRow): FidelityRow {
  return { ...row, superseded: true, note: [row.note, "measured again"].filter(Boolean).join("; ") };
}

async function measure(setting: FidelitySetting, seed: number, lab: Lab): Promise<Measurement[]> {
  const { ways, asked, probe } = setting;
  // The other direction is left free, so that each is seen apart.
  const direction = (way: Way) => (ways.includes(way) ? asked : { delayMs: 0 });
  await lab.path.set({ seed, aToB: direction("aToB"), bToA: direction("bToA") });
  const before = await lab.path.faults();
  const measured = await Promise.all(
    ways.map(async (way) => {
      const packets = packetsOf(probe, asked, seededRandom(seed, "packets", way));
      return { packets, stamps: await send(packets, way, asked.delayMs ?? 0, lab) };
    }),
  );
  const after = await lab.path.faults();
  return ways.flatMap((way, i) => {
    const one = measured[i];
    return one === undefined ? [] : [{ setting, direction: way, ...one, emulatorDrops: after[way] - before[way] }];
  });
}

/** Runs pathprobe to its end. @throws UserError */
async function send(
  packets: Measurement["packets"],
  way: Way,
  delayMs: number,
  { folder, signal }: Lab,
): Promise<Stamps> {
  const [from, to] = way === "aToB" ? [A, B] : [B, A];
  const plan = join(folder, `${way}.json`);
  writeFileSync(
    plan,
    JSON.stringify({ dueNs: packets.map((one) => one.dueNs), bytes: packets.map((one) => one.bytes) }),
  );
  const quiet = `${delayMs + QUEUE_MS + 50}ms`;
  const ends = ["-from", from.name, "-to", to.name, "-to-address", to.address];
  const args = [...ends, "-plan", plan, "-quiet", quiet];
  const { stdout } = await execute(PATHPROBE_PROGRAM, args, { signal, maxBuffer: 2 ** 30 }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw new UserError(`pathprobe ended without a result: ${(error as Error).message}`);
  });
  return JSON.parse(stdout) as Stamps;
}
