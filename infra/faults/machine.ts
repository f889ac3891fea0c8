import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { findProgram } from "../../base/find-program.ts";
import { UserError } from "../../base/user-error.ts";
import { findCompiler } from "./clock.ts";

/** What a process holds. */
export interface Holding {
  /** Of the machine's memory, MB (10^6 bytes). */
  readonly MB: number;
  /** Open descriptors. */
  readonly descriptors: number;
}

/** What a process holds now; nothing if it is gone. */
export function holdingOf(pid: number): Holding {
  try {
    const kB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
    return { MB: Math.round((kB * 1024) / 1e6), descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return { MB: 0, descriptors: 0 };
  }
}

/** What a fault needs of the machine. */
export type Need = "namespaces" | "tc" | "ss" | "prlimit" | "compiler";

const NEEDS: Readonly<Record<Need, readonly [what: string, isMet: (inNamespaces: boolean) => boolean]>> = {
  namespaces: [
    "namespaces of its own (unshare and ip, as root or where users may make user namespaces)",
    (inNamespaces) => inNamespaces,
  ],
  tc: ["tc, and a kernel with HTB and u32", (inNamespaces) => inNamespaces && canDrop()],
  ss: [
    "ss -K, and a kernel that can destroy UDP sockets",
    (inNamespaces) => inNamespaces && findProgram("ss") !== undefined,
  ],
  prlimit: ["prlimit (util-linux)", () => findProgram("prlimit") !== undefined],
  compiler: ["a C compiler (cc, gcc or clang)", () => findCompiler() !== undefined],
};

/** The command that runs a program in network and mount namespaces of its own. Undefined if this user may not make them. */
export function namespaceCommand(): readonly string[] | undefined {
  const unshare = findProgram("unshare");
  if (unshare === undefined || findProgram("ip") === undefined) return undefined;
  const root = process.getuid?.() === 0;
  const setpriv = findProgram("setpriv");
  // The kernel ends the run when this process is killed.
  const bound = setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
  const command = [...bound, unshare, "--net", "--mount", ...(root ? [] : ["--map-root-user"])];
  const [program = "", ...args] = command;
  return spawnSync(program, [...args, "ip", "link", "set", "lo", "up"]).status === 0 ? command : undefined;
}

/** What this machine lacks. To be asked inside the namespaces, with `lo` up. */
export function lacking(inNamespaces: boolean): ReadonlyMap<string | undefined, string> {
  return new Map(
    Object.entries(NEEDS)
      .filter(([, [, isMet]]) => !isMet(inNamespaces))
      .map(([need, [what]]) => [need, what]),
  );
}

function canDrop(): boolean {
  if (findProgram("tc") === undefined) return false;
  const worked = dropping(9).every(([program, ...args]) => spawnSync(program, args).status === 0);
  spawnSync("tc", ["qdisc", "del", "dev", "lo", "root"]);
  return worked;
}

/** The commands after which each packet to this UDP port is dropped. Class 1:2 has a queue for no packet. */
function dropping(port: number): (readonly [string, ...string[]])[] {
  const tc = (text: string): readonly [string, ...string[]] => ["tc", ...text.split(" ")];
  return [
    tc("qdisc add dev lo root handle 1: htb default 1"),
    tc("class add dev lo parent 1: classid 1:1 htb rate 100gbit quantum 60000"),
    tc("class add dev lo parent 1: classid 1:2 htb rate 100gbit quantum 60000"),
    tc("qdisc add dev lo parent 1:2 pfifo limit 0"),
    tc(
      `filter add dev lo parent 1: protocol ip prio 1 u32 match ip protocol 17 0xff match ip dport ${port} 0xffff flowid 1:2`,
    ),
  ];
}

/** A new network namespace has its loopback interface down. */
export async function raiseLoopback(): Promise<void> {
  await call("ip", "link", "set", "lo", "up");
}

/** Drops all packets to this UDP port. Only inside the namespaces. @throws UserError */
export async function blockUdp(port: number): Promise<void> {
  for (const command of dropping(port)) await call(...command);
}

export async function unblockUdp(): Promise<void> {
  await call("tc", "qdisc", "del", "dev", "lo", "root");
}

/** Destroys the sockets of this UDP port, as the kernel can. @throws UserError */
export async function destroyUdp(port: number): Promise<void> {
  const printed = await call("ss", "-K", "-a", "-u", "-n", "-H", "sport", "=", `:${port}`);
  if (printed.trim() === "") throw new UserError("ss -K destroyed no UDP socket: this kernel may not be able to.");
}

/** Mounts a file system in memory. Only inside the namespaces: it ends with them. */
export async function mountMemory(folder: string, bytes: number): Promise<void> {
  await call("mount", "-t", "tmpfs", "-o", `size=${bytes},mode=0700`, "adaptive-h3-faults", folder);
}

export async function unmount(folder: string): Promise<void> {
  await call("umount", "--lazy", folder);
}

/** Sets a soft limit of a process. */
export async function limit(pid: number, resource: "nofile" | "data", value: number | "unlimited"): Promise<void> {
  await call("prlimit", "--pid", String(pid), `--${resource}=${value}:`);
}

async function call(program: string, ...args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args);
    return stdout;
  } catch (error) {
    throw new UserError(`${program} ${args.join(" ")}: ${(error as Error).message}`);
  }
}
