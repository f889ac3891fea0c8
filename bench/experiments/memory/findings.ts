import type { TopLevelSpec } from "vega-lite";
import { distinct, lastMachine, machineText } from "../../harness/machine-text.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import { number, size, withInterval } from "../../analysis/tables/format.ts";
import { ARM_STYLES, INTERVAL, look } from "../../analysis/charts/theme.ts";
import { LOOK_EVERY_MS } from "./measure.ts";
import type { MemorySummary } from "./summary.ts";

/** The values of report.md. */
export function memoryValues(summary: MemorySummary) {
  const { command, starts, rounds, rateMbps, delayMs, queueBytes, bytes, tcpBuffers } = summary;
  const { go, quicGo, k6 } = lastMachine(starts);
  return {
    command,
    days: distinct(starts.map(({ at }) => at.slice(0, 10))),
    versions: { go: go.replace("go", ""), quicGo: quicGo.replace("v", ""), k6 },
    machine: machineText(starts),
    path: { rateMbps, delayMs, queue: size(queueBytes), bytes: size(bytes), sendBuffer: tcpBuffers.send },
    rounds,
    lookMs: LOOK_EVERY_MS,
    crowds: tableOf(summary.crowds, [
      ["clients at once", ({ clients }) => String(clients)],
      ["protocol", ({ protocol }) => protocol],
      ["n", ({ n }) => String(n)],
      ["the edge, MiB", ({ edgeMiB }) => withInterval(edgeMiB)],
      ["the kernel, its sockets, MiB", ({ socketsMiB }) => number(socketsMiB)],
      ["both at once, MiB", ({ serverMiB }) => withInterval(serverMiB)],
      ["all clients (k6), MiB", ({ clientMiB }) => withInterval(clientMiB)],
      ["seconds", ({ seconds }) => number(seconds)],
    ]),
    perClient: tableOf(summary.perClient, [
      ["a client more takes", ({ protocol }) => protocol],
      ["of the edge, KiB", ({ edgeKiB }) => withInterval(edgeKiB)],
      ["of edge and kernel, KiB", ({ serverKiB }) => withInterval(serverKiB)],
      ["of k6, KiB", ({ clientKiB }) => withInterval(clientKiB)],
    ]),
    ratios: { edge: withInterval(summary.edgeRatio), server: withInterval(summary.serverRatio) },
  };
}

const PANELS = [
  { field: "edgeMiB", title: "the edge (MiB)" },
  { field: "serverMiB", title: "edge and kernel (MiB)" },
  { field: "clientMiB", title: "all clients (MiB)" },
] as const;

/** Panels side by side, a line for each protocol. */
export function memoryPicture({ crowds }: MemorySummary): TopLevelSpec {
  const quantitative = { type: "quantitative" } as const;
  // The arms' looks, under the protocols' names.
  const { color, shape } = look("protocol", [
    { ...ARM_STYLES["fixed-h2"], name: "h2" },
    { ...ARM_STYLES["fixed-h3"], name: "h3" },
  ]);
  return {
    title: { text: "Peak memory over clients at once", subtitle: "Means of all rounds; bars: 95 % intervals." },
    spacing: 30,
    hconcat: PANELS.map(({ field, title }) => {
      const values = crowds.map((crowd) => ({ clients: crowd.clients, protocol: crowd.protocol, ...crowd[field] }));
      return {
        width: 190,
        height: 220,
        data: { values },
        encoding: { x: { field: "clients", ...quantitative, title: "clients at once" }, color },
        layer: [
          {
            mark: { type: "line" as const, strokeWidth: 1.5 },
            encoding: { y: { field: "estimate", ...quantitative, title, scale: { zero: true } } },
          },
          INTERVAL,
          {
            mark: { type: "point" as const, filled: true, size: 70, opacity: 1 },
            encoding: { y: { field: "estimate", ...quantitative }, shape },
          },
        ],
      };
    }),
  };
}
