import { isSlowedByLoss } from "../../policy-api/cli/doctor/congestion.ts";

/**
 * What the first screen says about the congestion control of the edge's TCP, to the end of a sentence. Where it slows down at
 * each loss, a paragraph says how to get bbr.
 */
export function congestionText(name: string): string {
  const serves = `and sends over TCP with ${name}.`;
  if (!isSlowedByLoss(name)) return serves;
  return `${serves}

  Your TCP is ${name}: on lossy and distant paths pages could take half as long with bbr (docs/results/levers.md). To change it,
  type this as root, and start again (docs/deploy-server.md makes it last):
           modprobe tcp_bbr; sysctl net.ipv4.tcp_allowed_congestion_control="reno cubic bbr"`;
}
