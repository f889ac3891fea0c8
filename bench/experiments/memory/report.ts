import type { TopLevelSpec } from "vega-lite";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { armScales } from "../../analysis/charts/theme.ts";
import type { Start } from "../../model/recorded-run.ts";
import { type CrowdSettings, LOOK_EVERY_MS } from "./measure.ts";
import type { MemorySummary } from "./summary.ts";

export interface MemoryAbout extends CrowdSettings {
  readonly command: string;
  readonly rounds: number;
  readonly starts: readonly Start[];
}

export const PICTURE = "memory.svg";

export function memoryReport(about: MemoryAbout, { crowds, perClient, edgeRatio, serverRatio }: MemorySummary): string {
  const machine = about.starts.at(-1)?.machine;
  if (machine === undefined) throw new Error("A report is of a run, and this one never started.");
  const commits = [...new Set(about.starts.map((start) => start.machine.commit))].join(", ");
  const days = [...new Set(about.starts.map(({ at }) => at.slice(0, 10)))].join(", ");
  const table = figuresTable(
    [
      "clients at once",
      "protocol",
      "n",
      "the edge, MiB",
      "the kernel, its sockets, MiB",
      "both at once, MiB",
      "all clients (k6), MiB",
      "seconds",
    ],
    crowds.map(({ clients, protocol, n, edgeMiB, socketsMiB, serverMiB, clientMiB, seconds }) => [
      String(clients),
      protocol,
      String(n),
      withInterval(edgeMiB),
      number(socketsMiB),
      withInterval(serverMiB),
      withInterval(clientMiB),
      number(seconds),
    ]),
  );
  const slopes = figuresTable(
    ["a client more takes", "of the edge, KiB", "of edge and kernel, KiB", "of k6, KiB"],
    perClient.map(({ protocol, edgeKiB, serverKiB, clientKiB }) => [
      protocol,
      withInterval(edgeKiB),
      withInterval(serverKiB),
      withInterval(clientKiB),
    ]),
  );
  return `# memory: what connections take, over HTTP/2 and HTTP/3

\`${about.command}\`, ${days}.

- Stack: the edge without a worker, Go ${machine.go.replace("go", "")} (HTTP/2 over the kernel's TCP with cubic, HTTP/3 by quic-go ${machine.quicGo.replace("v", "")}); clients: k6 ${machine.k6} with sessions
  of the same libraries, each a connection of its own.
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${commits}.
- Path: ${about.rateMbps} Mbit/s, ${about.delayMs} ms each way, no loss, a queue of ${size(about.queueBytes)}, which all clients share. Each downloads ${size(about.bytes)};
  they come 10 ms apart, as quic-go refuses connections while 32 wait to be accepted.
  The server's TCP send buffer (minimum, default, maximum): ${about.tcpBuffers.send} bytes, which are Linux' own.
- ${about.rounds} rounds, each crowd before an edge that has served nobody. A figure is the most that was seen, a look each ${LOOK_EVERY_MS} ms: resident
  memory of the process (VmRSS), and what the kernel held for the server's sockets (\`ss -m\`: received, forward-allocated, sent and
  not acknowledged). Both at once is the most of their sum at one look. A Go program lets its memory grow to about twice what is in
  use before it collects.
- k6 has a JavaScript runtime for each client, the same over both protocols: of its figures only the difference is the protocols'.
- Means with 95 % intervals (studentised bootstrap of the log). A client more: the largest crowd's peak less the smallest's, of the
  same round, by the clients between.

![Peak memory of the edge, of edge and kernel together, and of the clients over clients at once](${PICTURE})

${table}

${slopes}

${ratioText(edgeRatio, serverRatio)}TCP's data lie in the kernel from when they are written until they are acknowledged, QUIC's in the
program, and the path holds no more than its queue and what is under way; what else HTTP/3 takes was not looked into.
`;
}

function ratioText(edge: MemorySummary["edgeRatio"], server: MemorySummary["serverRatio"]): string {
  return edge === undefined || server === undefined
    ? ""
    : `In the largest crowd the edge takes ${withInterval(edge)} times as much over HTTP/3 as over HTTP/2; edge and kernel together ${withInterval(server)} times. `;
}

/** Panels side by side, a line for each protocol. */
export function memoryPicture({ crowds }: MemorySummary): TopLevelSpec {
  const { colour, shape } = armScales(["fixed-h2", "fixed-h3"]);
  // The arms' looks, under the protocols' names.
  const domain = ["h2", "h3"];
  const [colours, shapes] = [
    { ...colour, domain },
    { ...shape, domain },
  ];
  const panels = [
    { field: "edgeMiB", title: "the edge (MiB)" },
    { field: "serverMiB", title: "edge and kernel (MiB)" },
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
        color: { field: "protocol", type: "nominal" as const, title: "protocol", scale: colours },
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
              scale: shapes,
            },
          },
        },
      ],
    })),
  };
}
