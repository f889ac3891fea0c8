import type { TopLevelSpec } from "vega-lite";
import { distinct, lastMachine, machineText } from "../../harness/machine-text.ts";
import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { ARM_STYLES, look } from "../../analysis/charts/theme.ts";
import type { Start } from "../../model/recorded-run.ts";
import { type CrowdSettings, LOOK_EVERY_MS } from "./measure.ts";
import type { MemorySummary } from "./summary.ts";

export interface MemoryAbout extends CrowdSettings {
  readonly command: string;
  readonly rounds: number;
  readonly starts: readonly Start[];
}

export const PICTURE = "memory.svg";

/** The values of report.md. */
export function memoryValues(summary: MemoryAbout & MemorySummary) {
  const { command, starts, rounds, rateMbps, delayMs, queueBytes, bytes, tcpBuffers } = summary;
  const { crowds, perClient, edgeRatio, serverRatio } = summary;
  const machine = lastMachine(starts);
  return {
    command,
    days: distinct(starts.map(({ at }) => at.slice(0, 10))),
    versions: { go: machine.go.replace("go", ""), quicGo: machine.quicGo.replace("v", ""), k6: machine.k6 },
    machine: machineText(starts),
    path: { rateMbps, delayMs, queue: size(queueBytes), bytes: size(bytes), sendBuffer: tcpBuffers.send },
    rounds,
    lookMs: LOOK_EVERY_MS,
    crowds: crowdsTable(crowds),
    perClient: slopesTable(perClient),
    ratios:
      edgeRatio === undefined || serverRatio === undefined
        ? undefined
        : { edge: withInterval(edgeRatio), server: withInterval(serverRatio) },
  };
}

function crowdsTable(crowds: MemorySummary["crowds"]): string {
  return figuresTable(
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
}

function slopesTable(perClient: MemorySummary["perClient"]): string {
  return figuresTable(
    ["a client more takes", "of the edge, KiB", "of edge and kernel, KiB", "of k6, KiB"],
    perClient.map(({ protocol, edgeKiB, serverKiB, clientKiB }) => [
      protocol,
      withInterval(edgeKiB),
      withInterval(serverKiB),
      withInterval(clientKiB),
    ]),
  );
}

/** Panels side by side, a line for each protocol. */
export function memoryPicture({ crowds }: MemorySummary): TopLevelSpec {
  // The arms' looks, under the protocols' names.
  const { color, shape } = look("protocol", [
    { ...ARM_STYLES["fixed-h2"], name: "h2" },
    { ...ARM_STYLES["fixed-h3"], name: "h3" },
  ]);
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
        color,
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
            shape,
          },
        },
      ],
    })),
  };
}
