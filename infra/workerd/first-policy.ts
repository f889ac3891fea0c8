import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../setup/build.ts";

/** The congestion control that the edge's TCP has, unless it is told another one; "" where the kernel does not say. */
export function systemCongestionControl(): string {
  try {
    return readFileSync("/proc/sys/net/ipv4/tcp_congestion_control", "utf8").trim();
  } catch {
    return "";
  }
}

/**
 * The policy that a demonstration begins with: the one that was calibrated for this edge with the machine's congestion
 * control. Whatever is not bbr yields to loss as cubic does.
 */
export function firstPolicy(congestionControl: string): unknown {
  const name = congestionControl === "bbr" ? "bbr" : "cubic";
  return JSON.parse(readFileSync(join(ROOT, `policy-api/policies/${name}.json`), "utf8"));
}
