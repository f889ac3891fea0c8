import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { UserError } from "../../../base/user-error.ts";
import { type Random, seededRandom } from "../../analysis/statistics/random.ts";
import { type CheckRun, defineCheck } from "../../harness/experiment.ts";
import { inLab } from "../../harness/in-lab.ts";
import { dayOf, FIDELITY_FOLDER, thisMachine } from "../../harness/machine.ts";
import { writeIn, jsonText } from "../../harness/run-folder.ts";
import { type Lane, SERVER_ADDRESS } from "../../lab/lane.ts";
import { type Direction, faultsOf } from "../../lab/path.ts";
import { buildNetpath, PATHPROBE_PROGRAM } from "../../lab/programs.ts";
import { flag } from "../../model/options.ts";
import type { KnownFidelity } from "../../model/recorded-run.ts";
import {
  type FidelityRow,
  type FidelitySetting,
  fidelityTable,
  gapNs,
  joined,
  type Measurement,
  MUST_HOLD_MBPS,
  type Packet,
  type Probe,
  rowsOf,
  type Stamps,
  verdictOf,
  type Way,
} from "./report.ts";

const execute = promisify(execFile);

const BOTH = ["aToB", "bToA"] as const;
/** So that a queue that a probe has filled is empty soon. */
const QUEUE_MS = 100;

/** All settings; `quick` is enough to see that a machine works (15 s instead of 1.5 minutes). */
export function fidelitySettings(quick: boolean): FidelitySetting[] {
  const each = (asked: Direction, probe: Probe): FidelitySetting[] =>
    BOTH.map((way) => ({ ways: [way], asked, probe }));
  const delay = (packets: number, gapMs = 1, loadMbps = 0): Probe => ({ mode: "delay", packets, gapMs, loadMbps });
  const loss = (packets: number): Probe => ({ mode: "loss", packets });
  return [
    ...(quick ? [12.5] : [0, 5, 12.5, 25]).flatMap((delayMs) => each({ delayMs }, delay(quick ? 600 : 1_000))),
    // Far apart: packets closer than the jitter bunch up, as none overtakes, and their mean delay rises.
    ...each({ delayMs: 12.5, jitterMs: 2 }, delay(quick ? 100 : 300, 20)),
    ...(quick ? [0.025] : [0, 0.01, 0.025, 0.05]).flatMap((lossRatio) =>
      each({ delayMs: 5, lossRatio }, loss(quick ? 10_000 : 20_000)),
    ),
    ...(quick ? [50, 200] : [5, 50, 100, 200, 400, 600, 1_000]).flatMap((rateMbps): FidelitySetting[] => {
      const asked = { rateMbps, delayMs: 5, queueBytes: (rateMbps * 1_000_000 * QUEUE_MS) / 8_000 };
      const rate: Probe = { mode: "rate", seconds: quick ? 0.6 : 1.2 };
      return [
        ...each(asked, rate),
        ...each(asked, delay(quick ? 600 : 1_500, 1, rateMbps * 0.8)),
        ...(!quick && rateMbps <= 200 ? [{ ways: BOTH, asked, probe: rate }] : []),
      ];
    }),
    // A flow of few packets, beside one that asks for a fifth more than there is.
    ...each({ rateMbps: 50, delayMs: 5, queue: "fq_codel" }, delay(quick ? 300 : 1_000, 2, 60)),
  ];
}

/** What a probe of a path sends, in order. */
export function packetsOf(probe: Probe, { rateMbps = 0 }: Direction, random: Random): Packet[] {
  // A fifth more than the bottleneck lets through.
  if (probe.mode === "rate") return evenly(probe.seconds * 1e9, 1_500, gapNs(1_500, 1.2 * rateMbps), true);
  if (probe.mode === "loss") return evenly(probe.packets * 50_000, 200, 50_000, true);
  // Exponential gaps see the time average of the queue (PASTA), which even ones, in step with the load, need not.
  let dueNs = 0;
  const probes = Array.from({ length: probe.packets }, () => {
    dueNs += Math.round(-Math.log(1 - random()) * probe.gapMs * 1e6);
    return { dueNs, bytes: 64, isProbe: true };
  });
  const load = probe.loadMbps === 0 ? [] : evenly(dueNs, 1_500, gapNs(1_500, probe.loadMbps), false);
  return [...load, ...probes].toSorted((one, other) => one.dueNs - other.dueNs);
}

function evenly(spanNs: number, bytes: number, everyNs: number, isProbe: boolean): Packet[] {
  return Array.from({ length: Math.round(spanNs / everyNs) }, (_, i) => ({
    dueNs: Math.round(i * everyNs),
    bytes,
    isProbe,
  }));
}

// A check and no experiment of rows: what is timed and misses its bound is measured again at once, and whether the emulated
// path holds is an answer about all settings together, within a minute and a half.
export const experiment = defineCheck({
  options: { quick: flag("fewer settings: whether it works") },
  folderName: ({ quick }) => (quick ? "fidelity-quick" : undefined),
  check: async ({ options: { quick }, command, signal, progress }) => {
    const rows = await measureAll(fidelitySettings(quick), { signal, progress });
    const { ok, limitMbps } = verdictOf(rows);
    const about = thisMachine();
    const summary = { date: dayOf(Date.now()), kernel: about.kernel, limitMbps, command, machine: about, ok, rows };
    summary satisfies KnownFidelity;
    // Other reports look it up where it always is; a quick run knows too little of this machine for that.
    if (!quick) {
      mkdirSync(FIDELITY_FOLDER, { recursive: true });
      writeIn(FIDELITY_FOLDER, "summary.json", jsonText(summary));
    }
    return summary;
  },
  report: ({ command, date, kernel, limitMbps, rows }) => ({
    values: { command, date, kernel, limitMbps, mustHold: MUST_HOLD_MBPS, table: fidelityTable(rows) },
  }),
  lines: ({ rows, ok, limitMbps }) => [
    fidelityTable(rows),
    ok
      ? `holds up to ${limitMbps} Mbit/s on this machine`
      : `does NOT hold: a bound is missed without a bottleneck or at ${MUST_HOLD_MBPS} Mbit/s or less`,
  ],
  holds: ({ ok }) => ok,
});

/**
 * Another program that has a core for a moment delays packets, and says nothing of the emulator: what is timed and misses
 * its bound is measured again. All measurements are in the table; the last one counts. Losses are not: there it is chance.
 */
const ATTEMPTS = 3;

type Probing = Pick<CheckRun<unknown>, "signal" | "progress">;

/** Measures whether the emulated path does what it is asked, by a program that knows nothing of it. @throws UserError */
async function measureAll(settings: readonly FidelitySetting[], { signal, progress }: Probing): Promise<FidelityRow[]> {
  await buildNetpath();
  const family = settings.filter(({ probe }) => probe.mode === "loss").length;
  const all: FidelityRow[] = [];
  return inLab({ arms: [], lanes: 1 }, signal, async ({ folder }, lane, either) => {
    for (const [index, setting] of settings.entries()) {
      progress.show(index / settings.length, "settings");
      const isTimed = setting.probe.mode !== "loss" && (setting.asked.rateMbps ?? 0) <= MUST_HOLD_MBPS;
      for (let attempts = isTimed ? ATTEMPTS : 1; attempts > 0; attempts--) {
        const found = await measure(setting, index + 1, lane, folder, either);
        const rows = found.flatMap((one) => rowsOf(one, family));
        const isLast = attempts === 1 || rows.every(({ ok }) => ok);
        all.push(...(isLast ? rows : rows.map(superseded)));
        if (isLast) break;
      }
    }
    return all;
  });
}

function superseded(row: FidelityRow): FidelityRow {
  return { ...row, superseded: true, note: joined("; ", [row.note, "measured again"]) };
}

async function measure(
  setting: FidelitySetting,
  seed: number,
  lane: Lane,
  folder: string,
  signal: AbortSignal,
): Promise<Measurement[]> {
  const { ways, asked, probe } = setting;
  // The other direction is left free, so that each is seen apart.
  const direction = (way: Way) => (ways.includes(way) ? asked : { delayMs: 0 });
  await lane.path.set({ seed, steps: [{ atMs: 0, aToB: direction("aToB"), bToA: direction("bToA") }] });
  const before = await lane.path.stats();
  const measured = await Promise.all(
    ways.map(async (way) => {
      const packets = packetsOf(probe, asked, seededRandom(seed, "packets", way));
      return { setting, direction: way, packets, stamps: await send(packets, way, asked.delayMs ?? 0) };
    }),
  );
  const after = await lane.path.stats();
  return measured.map((one) => ({
    ...one,
    emulatorDrops: faultsOf(after[one.direction]) - faultsOf(before[one.direction]),
  }));

  /** Runs pathprobe to its end. @throws UserError */
  async function send(packets: readonly Packet[], way: Way, delayMs: number): Promise<Stamps> {
    const namespaces = [lane.clientNamespace, lane.serverNamespace];
    const [from = "", to = ""] = way === "aToB" ? namespaces : namespaces.toReversed();
    const address = way === "aToB" ? SERVER_ADDRESS : lane.freshClient();
    const plan = `${way}.json`;
    const isFair = asked.queue !== undefined;
    writeIn(
      folder,
      plan,
      JSON.stringify({
        dueNs: packets.map((one) => one.dueNs),
        bytes: packets.map((one) => one.bytes),
        apart: packets.map((one) => isFair && one.isProbe),
      }),
    );
    const ends = ["-from", from, "-to", to, "-to-address", address];
    const quiet = `${delayMs + QUEUE_MS + 50}ms`;
    const args = [...ends, "-plan", join(folder, plan), "-quiet", quiet];
    const { stdout } = await execute(PATHPROBE_PROGRAM, args, { signal, maxBuffer: 2 ** 30 }).catch(
      (error: unknown) => {
        signal.throwIfAborted();
        throw new UserError(`pathprobe ended without a result: ${(error as Error).message}`);
      },
    );
    return JSON.parse(stdout) as Stamps;
  }
}
