import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";

/** Locks a folder for this process: two processes on the same files would not see each other's changes. @throws UserError */
export function lockFolder(folder: string, otherwise = "set STATE_DIR to another folder"): () => void {
  const file = join(folder, "lock");
  for (;;) {
    try {
      writeFileSync(file, identityOf(process.pid) ?? String(process.pid), { flag: "wx", mode: 0o600 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = readFileSync(file, "utf8");
    const pid = Number.parseInt(holder, 10);
    if (holder !== "" && holder === identityOf(pid))
      throw new UserError(`The folder ${folder} is in use by process ${pid}: stop it, or ${otherwise}.`);
    // The process that wrote the lock has ended without removing it.
    rmSync(file, { force: true });
  }
}

/**
 * A process's number and start time (proc(5): field 22 of /proc/pid/stat). The number alone may belong to another process
 * by now. Undefined without such a process.
 */
function identityOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The second field is the program's name in brackets, which may hold spaces and brackets.
    const startTime = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return `${pid} ${startTime}`;
  } catch {
    return undefined;
  }
}
