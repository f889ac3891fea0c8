import { shell } from "./shell.ts";

/** TCP's send and receive buffers: minimum, default, maximum, bytes. Pinned, as a host's own depend on its memory. */
const TCP_BUFFERS = "4096 131072 33554432";

/** Makes a network namespace with its loopback up. Its settings are its own and go with it; the machine's stay. */
export async function makeNamespace(name: string): Promise<void> {
  await shell("ip", "netns", "add", name);
  await shell("ip", "-n", name, "link", "set", "lo", "up");
  for (const [setting, value] of [
    // Else a connection begins with the window that the last one to this address ended with.
    ["net.ipv4.tcp_no_metrics_save", "1"],
    ["net.ipv4.tcp_rmem", TCP_BUFFERS],
    ["net.ipv4.tcp_wmem", TCP_BUFFERS],
  ] as const)
    await shell("ip", "netns", "exec", name, "sh", "-c", `echo "${value}" > /proc/sys/${setting.replaceAll(".", "/")}`);
}
