import { shell } from "./shell.ts";

/** TCP's send and receive buffers: minimum, default, maximum, bytes. Pinned, as a host's own depend on its memory. */
const TCP_BUFFERS = "4096 131072 33554432";

export interface TcpBuffers {
  readonly receive: string;
  readonly send: string;
}

/** What Linux gives a host that has memory enough (tcp(7); Documentation/networking/ip-sysctl.rst). */
export const LINUX_TCP_BUFFERS: TcpBuffers = { receive: "4096 131072 6291456", send: "4096 16384 4194304" };

/** Makes a network namespace with its loopback up. Its settings are its own and go with it; the machine's stay. */
export async function makeNamespace(
  name: string,
  { receive, send }: TcpBuffers = { receive: TCP_BUFFERS, send: TCP_BUFFERS },
): Promise<void> {
  await shell("ip", "netns", "add", name);
  await shell("ip", "-n", name, "link", "set", "lo", "up");
  for (const [setting, value] of [
    // Else a connection begins with the window that the last one to this address ended with.
    ["net.ipv4.tcp_no_metrics_save", "1"],
    ["net.ipv4.tcp_rmem", receive],
    ["net.ipv4.tcp_wmem", send],
  ] as const)
    await setIn(name, setting, value);
}

/** Sets a setting of a namespace's own network. */
export async function setIn(namespace: string, setting: string, value: string): Promise<void> {
  const file = `/proc/sys/${setting.replaceAll(".", "/")}`;
  await shell("ip", "netns", "exec", namespace, "sh", "-c", `echo "${value}" > ${file}`);
}
