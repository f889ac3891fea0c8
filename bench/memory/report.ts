import type { TopLevelSpec } from "vega-lite";
import { figuresTable } from "../report/figures-table.ts";
import { number, size, withInterval } from "../report/format.ts";
import type { Machine } from "../run/machine.ts";
import type { CrowdSettings } from "./measure.ts";
import type { MemorySummary } from "./summary.ts";

export interface MemoryAbout extends CrowdSettings {
  readonly command: string;
  readonly day: string;
  readonly rounds: number;
  readonly machine: Machine;
}

export const PICTURE = "memory.svg";

export function memoryReport(about: MemoryAbout, { crowds, perClient, edgeRatio }: MemorySummary): string {
  const { machine } = about;
  const table = figuresTable(
    ["clients at once", "protocol", "n", "the edge, MiB", "kernel, sockets, MiB", "all clients (k6), MiB", "seconds"],
    crowds.map(({ clients, protocol, n, edgeMiB, socketsMiB, clientMiB, seconds }) => [
      String(clients),
      protocol,
      String(n),
      withInterval(edgeMiB),
      withInterval(socketsMiB),
      withInterval(clientMiB),
      number(seconds),
    ]),
  );
  const slopes = figuresTable(
    ["a client more takes", "the edge, KiB", "kernel, sockets, KiB", "the client, KiB"],
    perClient.map(({ protocol, edgeKiB, socketsKiB, clientKiB }) => [
      protocol,
      number(edgeKiB),
      number(socketsKiB),
      number(clientKiB),
    ]),
  );
  return `# memory: what connections take, over HTTP/2 and HTTP/3

\`${about.command}\`, ${about.day}.

- Stack: the edge without a worker, Go ${machine.go.replace("go", "")} (HTTP/2 over the kernel's TCP with cubic, HTTP/3 by quic-go ${machine.quicGo.replace("v", "")}); clients: k6 ${machine.k6} with sessions
  of the same libraries, each a connection of its own.
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${machine.commit}.
- Path: ${about.rateMbps} Mbit/s, ${about.delayMs} ms each way, no loss, a queue of ${size(about.queueBytes)}, which all clients share. Each downloads ${size(about.bytes)}.
- ${about.rounds} rounds, each crowd before an edge that has served nobody. A figure is the most that was seen, 20 looks a second: resident
  memory of the process (VmRSS), and what the kernel held for all sockets of the transport, both ends, above what it held before.
  A Go program lets its memory grow to about twice what is in use before it collects.
- Means with 95 % intervals (studentised bootstrap of the log).

![Peak memory of the edge, of the kernel's sockets and of the clients over clients at once](${PICTURE})

${table}

${slopes}

${edgeRatio === undefined ? "" : `In the largest crowd the edge takes ${withInterval(edgeRatio)} times as much over HTTP/3 as over HTTP/2. `}What is sent and not yet acknowledged lies in the kernel with TCP, and in the program with
QUIC: compare the sums.
`;
}

const COLOURS = { h2: "#0072b2", h3: "#d55e00" } as const;

/** Panels side by side, a line for each protocol. */
export function memoryPicture({ crowds }: MemorySummary): TopLevelSpec {
  const names = ["h2", "h3"];
  const scale = { domain: names, range: names.map((name) => COLOURS[name as keyof typeof COLOURS]) };
  const panels = [
    { field: "edgeMiB", title: "the edge (MiB)" },
    { field: "socketsMiB", title: "the kernel, sockets (MiB)" },
    { field: "clientMiB", title: "all clients (MiB)" },
  ] as const;
  return {
    title: {
      text: "Peak memory over clients at once",
      subtitle: "Means of all rounds; bars: 95 % intervals.",
    },
    spacing: 30,
    hconcat: panels.map(({ field, title }) => ({
      width: 190,
      height: 220,
      data: {
        values: crowds.map(({ clients, protocol, [field]: of }) => ({
          clients,
          protocol,
          mib: of.estimate,
          low: of.low,
          high: of.high,
        })),
      },
      encoding: {
        x: { field: "clients", type: "quantitative" as const, title: "clients at once" },
        color: { field: "protocol", type: "nominal" as const, title: "protocol", scale },
      },
      layer: [
        {
          mark: { type: "line" as const, strokeWidth: 1.5 },
          encoding: { y: { field: "mib", type: "quantitative" as const, title, scale: { zero: true } } },
        },
        {
          transform: [{ filter: "isValid(datum.high)" }],
          mark: { type: "rule" as const, strokeWidth: 2 },
          encoding: { y: { field: "low", type: "quantitative" as const }, y2: { field: "high" } },
        },
        {
          mark: { type: "point" as const, filled: true, size: 70, opacity: 1 },
          encoding: {
            y: { field: "mib", type: "quantitative" as const },
            shape: {
              field: "protocol",
              type: "nominal" as const,
              title: "protocol",
              scale: { domain: names, range: ["circle", "square"] },
            },
          },
        },
      ],
    })),
  };
}
