import { readFileSync } from "node:fs";
import { shell } from "./shell.ts";

/** What a process has in memory, in bytes (VmRSS of /proc/PID/status, proc(5)); 0 where there is none of it any more. */
export function residentBytes(pid: number): number {
  try {
    return statusBytes(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return 0;
  }
}

/** VmRSS of the text of /proc/PID/status, in bytes; 0 where it has none, as of a process that is ending. */
export function statusBytes(text: string): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1024;
}

/** What the kernel holds for the sockets of a network namespace, bytes. @throws where `ss` fails */
export async function socketBytes(namespace: string, transport: "tcp" | "udp"): Promise<number> {
  const which = transport === "tcp" ? "-tmnH" : "-aumnH";
  return skmemBytes(await shell("ip", "netns", "exec", namespace, "ss", which));
}

/**
 * The sum over sockets of what `ss -m` tells of each (ss(8)): received and not read (r), forward-allocated (f), and sent or to be
 * sent (w is TCP's write queue, unacknowledged segments included; UDP has what the device has not sent yet, t).
 */
export function skmemBytes(text: string): number {
  const sockets = [...text.matchAll(/skmem:\(r(\d+),rb\d+,t(\d+),tb\d+,f(\d+),w(\d+)/g)];
  return sockets.reduce((sum, [, r, t, f, w]) => sum + Number(r) + Number(f) + Math.max(Number(w), Number(t)), 0);
}
