import { spawnSync } from "node:child_process";
import { closeSync, fstatSync, ftruncateSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";

/**
 * Locks a folder for this process: two processes on the same files would not see each other's changes. The kernel holds the lock
 * (flock(2)) for as long as this process has the file open, so it ends with the process, however that ends.
 *
 * @throws UserError
 */
export function lockFolder(folder: string, otherwise = "set STATE_DIR to another folder"): () => void {
  const file = join(folder, "lock");
  for (;;) {
    const descriptor = openSync(file, "a+", 0o600);
    // Node has no flock. That of util-linux locks the open file, which this process shares with it.
    const { status, error } = spawnSync("flock", ["-n", "3"], { stdio: ["ignore", "ignore", "inherit", descriptor] });
    if (status === 0 && isStill(file, descriptor)) {
      ftruncateSync(descriptor);
      writeSync(descriptor, String(process.pid));
      return () => {
        rmSync(file, { force: true });
        closeSync(descriptor);
      };
    }
    const holder = readFileSync(descriptor, "utf8");
    closeSync(descriptor);
    if (error !== undefined)
      throw new UserError(`The folder ${folder} cannot be locked without flock (util-linux): ${error.message}.`);
    if (status !== 0)
      throw new UserError(`The folder ${folder} is in use by process ${holder}: stop it, or ${otherwise}.`);
  }
}

/** Whether a path still leads to an open file: its last holder may have removed it meanwhile. */
function isStill(path: string, descriptor: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino;
}
