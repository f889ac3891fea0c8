import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { shell } from "./shell.ts";

/** Namespaces and folders of a run carry this and the process id of who made them. */
const PREFIX = "h3bench-";

export function ownPrefix(): string {
  return `${PREFIX}${process.pid}-`;
}

/**
 * Removes what a killed run could not: its network namespaces, its slow devices and its temporary folder. Its processes and devices are
 * gone already: the kernel ends a process with its starter, and a TUN device with the process that holds it. To be called
 * before this process makes any of its own: where process ids are used again, the dead one had the same.
 */
export async function removeLeftovers(): Promise<void> {
  for (const name of await namespaces()) if (isLeftOver(name)) await shell("ip", "netns", "delete", name);
  if (CPU_GROUPS !== undefined)
    for (const name of readdirSync(CPU_GROUPS)) if (isLeftOver(name)) await removeGroup(join(CPU_GROUPS, name));
  removeLeftoverFolders();
}

/**
 * Where the kernel holds groups of processes to a share of a core (cgroups(7)): version 1 has a folder for this alone. Undefined
 * where it has none.
 */
export const CPU_GROUPS = ["/sys/fs/cgroup/cpu", "/sys/fs/cgroup"].find((path) =>
  existsSync(join(path, "cgroup.procs")),
);

const LOOK_AGAIN_MS = 50;

/** Ends what still runs in a group of processes, and removes it. */
export async function removeGroup(path: string): Promise<void> {
  for (;;) {
    const pids = readFileSync(join(path, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
    if (pids.length === 0) break;
    for (const pid of pids) killed(pid);
    await pause(LOOK_AGAIN_MS);
  }
  rmdirSync(path);
}

/** It may have ended meanwhile. */
function killed(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** The folders alone, for what makes no namespaces: that takes neither root nor the program ip. */
export function removeLeftoverFolders(): void {
  for (const name of readdirSync(tmpdir()))
    if (isLeftOver(name)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
}

/** Removes every namespace of this process; to be called last. */
export async function removeOwnNamespaces(): Promise<void> {
  for (const name of await namespaces()) if (name.startsWith(ownPrefix())) await shell("ip", "netns", "delete", name);
}

/** A folder for everything that a run needs while it runs; what it starts puts its own folders in it. */
export function makeRunFolder(): { path: string; remove: () => void } {
  const before = process.env["TMPDIR"];
  const path = join(tmpdir(), `${ownPrefix()}run`);
  mkdirSync(path, { mode: 0o700 });
  process.env["TMPDIR"] = path;
  return {
    path,
    remove: () => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      rmSync(path, { recursive: true, force: true });
    },
  };
}

export async function namespaces(): Promise<string[]> {
  const text = await shell("ip", "netns", "list");
  // A line may end with the namespace's number: "name (id: 3)".
  return text.split("\n").flatMap((line) => line.split(" ")[0] || []);
}

function isLeftOver(name: string): boolean {
  const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
  return pid !== undefined && (Number(pid) === process.pid || !isBench(Number(pid)));
}

/** Whether the process with this id runs and is a bench: ids are used again. */
function isBench(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("bench");
  } catch {
    return false;
  }
}
