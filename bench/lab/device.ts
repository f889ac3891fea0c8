import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { CPU_GROUPS, ownPrefix, removeGroup } from "./leftovers.ts";

/** A share of a core is of each such time, microseconds: a slow core is slow all the time, and does not stop and go. */
const PERIOD_US = 10_000;

/**
 * Makes a device that is slower than this machine: a group of processes that together get so much of one core. It goes with the
 * stack, and what still runs on it.
 *
 * @param cores above 0
 * @returns what a command begins with that is to run on it, outside of network namespaces, which hide the groups
 * @throws UserError where the kernel has no such groups
 */
export function slowDevice(name: string, cores: number, stack: AsyncDisposableStack): readonly string[] {
  if (CPU_GROUPS === undefined)
    throw new UserError("A slow device takes the kernel's groups of processes, and /sys/fs/cgroup has none.");
  const group = join(CPU_GROUPS, `${ownPrefix()}${name}`);
  const set = (file: string, value: string | number): void => writeFileSync(join(group, file), String(value));
  mkdirSync(group);
  stack.defer(() => removeGroup(group));
  const quotaUs = Math.round(cores * PERIOD_US);
  if (readdirSync(group).includes("cpu.max")) set("cpu.max", `${quotaUs} ${PERIOD_US}`);
  else {
    set("cpu.cfs_period_us", PERIOD_US);
    set("cpu.cfs_quota_us", quotaUs);
  }
  return ["sh", "-c", `echo $$ > '${join(group, "cgroup.procs")}' && exec "$@"`, "sh"];
}
