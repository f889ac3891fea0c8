import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, size, withInterval } from "../analysis/tables/format.ts";
import type { CrowdFigures, MemorySummary } from "../experiments/memory/summary.ts";

/** Of summary.json, what the page shows of memory. */
export interface RecordedMemory extends MemorySummary {
  readonly command: string;
  readonly bytes: number;
  readonly rateMbps: number;
  readonly delayMs: number;
}

export function memorySection(recorded: RecordedMemory): string {
  const { command, bytes, rateMbps, delayMs, crowds, perClient, edgeRatio, serverRatio } = recorded;
  if (edgeRatio === undefined || serverRatio === undefined) throw new Error("Too little was recorded of memory.");
  const most = Math.max(...crowds.map(({ clients }) => clients));
  const rows = (["h2", "h3"] as const).map((protocol) => {
    const { edgeMiB, socketsMiB, serverMiB } = largest(crowds, protocol, most);
    const slope = perClient.find((one) => one.protocol === protocol);
    if (slope === undefined) throw new Error(`Nothing was recorded of memory over ${protocol}.`);
    return [
      protocol === "h2" ? "HTTP/2" : "HTTP/3 (quic-go)",
      withInterval(edgeMiB),
      number(socketsMiB),
      withInterval(serverMiB),
      withInterval(slope.edgeKiB),
      withInterval(slope.serverKiB),
    ];
  });
  return `## Memory: crowds of clients

The sweep's author would have measured memory next. ${most} clients at once, each over a connection of its own, download ${size(bytes)} over a line of ${rateMbps} Mbit/s with
${delayMs} ms each way that they share: the most that the edge, and the kernel for its sockets, had.

![Peak memory over clients at once](../bench/results/memory/memory.svg)

${figuresTable(
  [
    `${most} clients`,
    "the edge, MiB",
    "the kernel, MiB",
    "both at once, MiB",
    "a client more: the edge, KiB",
    "both, KiB",
  ],
  rows,
)}

\`${command}\`; the [report](../bench/results/memory/report.md) has all figures.

- The edge takes ${withInterval(edgeRatio)} times as much over HTTP/3 as over HTTP/2; with what the kernel holds for its sockets ${withInterval(serverRatio)} times. TCP's data
  lie in the kernel until they are acknowledged, QUIC's in the program; what else HTTP/3 takes was not looked into. A Go program lets its
  memory grow to about twice what is in use.
- **For an operator**: a limit on the Go program (GOMEMLIMIT) does not see TCP's socket buffers; that of a container (cgroup v2) counts them.`;
}

function largest(crowds: readonly CrowdFigures[], protocol: "h2" | "h3", clients: number): CrowdFigures {
  const found = crowds.find((crowd) => crowd.protocol === protocol && crowd.clients === clients);
  if (found === undefined) throw new Error(`There is no crowd of ${clients} over ${protocol}.`);
  return found;
}
