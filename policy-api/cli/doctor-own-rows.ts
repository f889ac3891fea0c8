import type { Health, Probe } from "../api/contract/deployment.ts";
import { meaningOfTcp } from "./doctor/congestion.ts";
import { meaningOfBuffers } from "./doctor/udp-buffers.ts";
import type { Row } from "./doctor-look.ts";

/** What the worker knows of our connection, and how long it takes. */
export function workerRows(probes: readonly Probe[]): readonly Row[] {
  const [first] = probes;
  if (first === undefined) return [];
  const { cf, edge, budgetMs, httpProtocol } = first;
  const late = probes.filter(isLate).length;
  const losses = edge === "adaptive-h3" ? "the edge counts losses" : "losses only as pages report them";
  return [
    {
      tried: `request.cf over ${httpProtocol ?? "an unknown protocol"}`,
      came: cf.join(", ") || "nothing",
      means: hasRtt(first) ? `RTT is known; ${losses}` : "no RTT: nothing can be decided",
    },
    {
      tried: "look-up of a client",
      came: rangeOf(probes.map(({ lookUpMs }) => lookUpMs)),
      means: late === 0 ? `within ${budgetMs} ms` : `${late} of ${probes.length} not within ${budgetMs} ms`,
    },
    {
      tried: "look-up of the policy",
      came: rangeOf(probes.map(({ policyMs }) => policyMs)),
      means: "only the first page of a new isolate waits for it",
    },
  ];
}

/** Who sends, and the buffers that it has, where this project's edge says so: nobody knows another's. */
export function senderRows(health: Health | undefined): readonly Row[] {
  const { stack = null, udpBuffers = null } = health ?? {};
  const kib = (bytes: number): string => `${Math.floor(bytes / 1024)} KiB`;
  return [
    ...(stack === null
      ? []
      : [{ tried: "congestion control of TCP", came: stack.tcp, means: meaningOfTcp(stack.tcp) }]),
    ...(udpBuffers === null
      ? []
      : [
          {
            tried: "UDP buffers of the edge",
            came: `${kib(udpBuffers.receiveBytes)} to receive, ${kib(udpBuffers.sendBytes)} to send`,
            means: meaningOfBuffers(udpBuffers),
          },
        ]),
  ];
}

/** Whether the worker sees the RTT of our connection. */
export function hasRtt({ cf }: Probe): boolean {
  return cf.includes("clientTcpRtt") || cf.includes("clientQuicRtt");
}

/** Whether a look-up comes too late for a page. */
export function isLate({ lookUpMs, budgetMs }: Probe): boolean {
  return lookUpMs === null || lookUpMs > budgetMs;
}

/** Null: no answer. */
function rangeOf(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  if (known.length === 0) return "no answer";
  const [least, most] = [Math.min(...known), Math.max(...known)];
  return least === most ? `${least} ms` : `${least} to ${most} ms`;
}
