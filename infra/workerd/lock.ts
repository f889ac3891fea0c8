import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";

/** Locks a folder for this process: two processes on the same files would not see each other's changes. @throws UserError */
export function lockFolder(folder: string, otherwise = "set STATE_DIR to another folder"): () => void {
  const file = join(folder, "lock");
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = Number(readFileSync(file, "utf8"));
    if (isRunning(holder))
      throw new UserError(`The folder ${folder} is in use by process ${holder}: stop it, or ${otherwise}.`);
    // The process that wrote the lock has ended without removing it.
    rmSync(file, { force: true });
  }
}

function isRunning(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
