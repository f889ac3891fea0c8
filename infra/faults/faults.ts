import { createHash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { UserError } from "../../base/user-error.ts";
import type { System } from "../workerd/system.ts";
import type { Accounting } from "./accounting.ts";
import type { Clock } from "./clock.ts";
import type { Load } from "./load.ts";
import { blockUdp, destroyUdp, limit, type Need, unblockUdp } from "./machine.ts";
import type { FaultName } from "./names.ts";

/** What a fault acts on. */
export interface Scene {
  readonly system: System;
  readonly load: Load;
  readonly accounting: Accounting;
  readonly port: number;
  /** The folder of the objects' files. */
  readonly objectsDir: string;
  readonly seed: number;
  /** workerd's clock. Undefined if no fault needs it. */
  readonly clock: Clock | undefined;
}

export interface Fault {
  readonly needs?: Need;
  /** How long it stays, milliseconds: not at all, unless it says so. */
  readonly holdMs?: number;
  inject(scene: Scene): Promise<void>;
  /** Ends it. Resolves when nothing of it is left but what the system itself has to mend. */
  heal?(scene: Scene): Promise<void>;
}

const BACK_WITHIN_MS = 20_000;
/** Fewer than workerd has open: those stay, and it gets no other. */
const FEW_DESCRIPTORS = 16;
/** The room that is left to workerd. */
const SPARE_BYTES = 4_000_000;
const ORIGIN_DELAY_MS = 400;
const DAY_S = 86_400;

/** Every fault: how it is injected, and how it is healed. */
export const FAULTS: Readonly<Record<FaultName, Fault>> = {
  nothing: {
    holdMs: 2_000,
    inject: async () => undefined,
  },
  "workerd-killed": {
    inject: async ({ system }) => {
      const pid = await running(system);
      process.kill(pid, "SIGKILL");
      await another("workerd", pid, () => system.workerd.pid());
    },
  },
  "workerd-stopped": {
    holdMs: 3_000,
    inject: async ({ system }) => void process.kill(await running(system), "SIGSTOP"),
    heal: async ({ system }) => void process.kill(system.workerd.pid(), "SIGCONT"),
  },
  "edge-killed": {
    inject: async ({ system }) => {
      const pid = system.edgePid();
      process.kill(pid, "SIGKILL");
      await another("edge", pid, () => system.edgePid());
    },
  },
  "edge-stopped": {
    holdMs: 1_500,
    inject: async ({ system }) => void process.kill(system.edgePid(), "SIGSTOP"),
    heal: async ({ system }) => void process.kill(system.edgePid(), "SIGCONT"),
  },
  "disk-full": {
    needs: "namespaces",
    holdMs: 2_000,
    inject: async ({ objectsDir }) => fill(join(objectsDir, "filling")),
    heal: async ({ objectsDir }) => rmSync(join(objectsDir, "filling"), { force: true }),
  },
  "store-corrupt": {
    holdMs: 2_000,
    inject: async (scene) => {
      await restart(scene, () => {
        // The copy is beside the files, because it has to end with them.
        const kept = mkdtempSync(`${scene.objectsDir}-`);
        keeping.set(scene, kept);
        for (const file of databasesIn(scene.objectsDir)) {
          cpSync(join(scene.objectsDir, file), join(kept, file), { recursive: true });
          corrupt(join(scene.objectsDir, file), scene.seed);
        }
      });
    },
    heal: async (scene) => {
      const kept = keeping.get(scene);
      if (kept === undefined) return;
      await restart(scene, () => {
        for (const file of databasesIn(scene.objectsDir)) rmSync(join(scene.objectsDir, file));
        for (const file of databasesIn(kept)) copyFileSync(join(kept, file), join(scene.objectsDir, file));
      });
      rmSync(kept, { recursive: true, force: true });
      keeping.delete(scene);
    },
  },
  "origin-slow": {
    holdMs: 2_000,
    inject: ({ load }) => load.order({ do: "delay", ms: ORIGIN_DELAY_MS }),
    heal: ({ load }) => load.order({ do: "delay", ms: 0 }),
  },
  "origin-dead": {
    holdMs: 1_500,
    inject: async ({ load, accounting }) => {
      accounting.deaths.push({ ms: Date.now() });
      await load.order({ do: "kill-origin" });
    },
    heal: async ({ load, accounting }) => {
      await load.order({ do: "start-origin" });
      const death = accounting.deaths.at(-1);
      if (death !== undefined) death.backMs = Date.now();
    },
  },
  "origin-lying": {
    holdMs: 2_500,
    inject: ({ load }) => load.order({ do: "lies", percent: 30 }),
    heal: ({ load }) => load.order({ do: "lies", percent: 0 }),
  },
  "clock-ahead": {
    needs: "compiler",
    holdMs: 2_000,
    inject: async ({ clock }) => clock?.shift(DAY_S),
    heal: async ({ clock }) => clock?.shift(0),
  },
  "clock-behind": {
    needs: "compiler",
    holdMs: 2_000,
    inject: async ({ clock }) => clock?.shift(-DAY_S),
    heal: async ({ clock }) => clock?.shift(0),
  },
  "udp-blocked": {
    needs: "tc",
    holdMs: 2_500,
    inject: ({ port }) => blockUdp(port),
    heal: () => unblockUdp(),
  },
  "udp-destroyed": {
    needs: "ss",
    inject: async ({ port, accounting }) => {
      accounting.endings.push({ program: "udp", ms: Date.now() });
      await destroyUdp(port);
    },
  },
  "memory-short": {
    needs: "prlimit",
    holdMs: 2_500,
    inject: async ({ system }) => {
      const pid = await running(system);
      await limit(pid, "data", dataBytes(pid) + SPARE_BYTES);
    },
    heal: ({ system }) => limitWhereItRuns(system.workerd.pid(), "data", "unlimited"),
  },
  "descriptors-short": {
    needs: "prlimit",
    holdMs: 2_500,
    inject: async ({ system }) => {
      const pid = await running(system);
      allowed.set(pid, descriptorsAllowed(pid));
      await limit(pid, "nofile", FEW_DESCRIPTORS);
    },
    heal: async ({ system }) => {
      const pid = system.workerd.pid();
      const before = allowed.get(pid);
      // If workerd ended, its successor has no such limit.
      if (before !== undefined) await limitWhereItRuns(pid, "nofile", before);
    },
  },
};

/** The copies of the files that `store-corrupt` overwrites. */
const keeping = new WeakMap<Scene, string>();
/** The limits on descriptors that `descriptors-short` changed, by process. */
const allowed = new Map<number, number>();

/** Resolves when another process has taken the place of one that was killed. @throws UserError */
async function another(name: string, pid: number, current: () => number): Promise<void> {
  const deadlineMs = Date.now() + BACK_WITHIN_MS;
  while (current() === pid) {
    if (Date.now() > deadlineMs) throw new UserError(`No other ${name} within ${BACK_WITHIN_MS / 1000} s.`);
    await pause(10);
  }
}

/** The id of workerd. The fault before may have ended it: then resolves when it has started again. @throws UserError */
async function running(system: System): Promise<number> {
  const deadlineMs = Date.now() + BACK_WITHIN_MS;
  while (!isThere(system.workerd.pid())) {
    if (Date.now() > deadlineMs) throw new UserError(`No workerd within ${BACK_WITHIN_MS / 1000} s.`);
    await pause(10);
  }
  return system.workerd.pid();
}

/** Sets a limit of a process, which may have ended under the fault, or end meanwhile: its successor has no such limit. */
async function limitWhereItRuns(...[pid, resource, value]: Parameters<typeof limit>): Promise<void> {
  try {
    await limit(pid, resource, value);
  } catch (error) {
    if (isThere(pid)) throw error;
  }
}

function isThere(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}

/** Kills workerd, changes its files, and starts it. */
async function restart({ system, accounting }: Scene, change: () => void): Promise<void> {
  const ending = { program: "workerd" as const, ms: Date.now(), backMs: Infinity };
  accounting.endings.push(ending);
  await system.workerd.crash(change);
  ending.backMs = Date.now();
}

/** Writes until the disk is full. */
function fill(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (const size of [1 << 20, 1 << 12])
      for (const block = Buffer.alloc(size); ;)
        try {
          writeSync(descriptor, block);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
          break;
        }
  } finally {
    closeSync(descriptor);
  }
}

/** The files of databases in a folder, with their logs. */
function databasesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.sqlite(?:-wal|-shm)?$/.test(file),
  );
}

/** Overwrites 64 bytes of each 512 of a file. */
function corrupt(file: string, seed: number): void {
  const descriptor = openSync(file, "r+");
  const { length } = readFileSync(file);
  for (let at = 0; at < length; at += 512)
    writeSync(descriptor, createHash("sha512").update(`${seed} ${at}`).digest(), 0, Math.min(64, length - at), at);
  closeSync(descriptor);
}

/** The private memory of a process that it can write, which is what the limit `data` counts. */
function dataBytes(pid: number): number {
  const kB = /^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kB) * 1024;
}

function descriptorsAllowed(pid: number): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, "utf8"))?.[1]);
}
