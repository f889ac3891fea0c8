import { readFileSync } from "node:fs";

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

/** What the kernel holds for the machine's TCP and UDP sockets, in all namespaces, both ends, bytes. */
export interface SocketMemory {
  readonly tcp: number;
  readonly udp: number;
}

export function socketMemory(): SocketMemory {
  return sockstatBytes(readFileSync("/proc/net/sockstat", "utf8"));
}

/** `mem` of /proc/net/sockstat, which counts pages of 4 KiB and is the protocol's, of all namespaces. */
export function sockstatBytes(text: string): SocketMemory {
  const of = (protocol: string): number => {
    const pages = new RegExp(`^${protocol}: .*\\bmem (\\d+)`, "m").exec(text)?.[1];
    if (pages === undefined) throw new Error(`/proc/net/sockstat tells no memory of ${protocol}.`);
    return Number(pages) * PAGE_BYTES;
  };
  return { tcp: of("TCP"), udp: of("UDP") };
}

const PAGE_BYTES = 4096;
