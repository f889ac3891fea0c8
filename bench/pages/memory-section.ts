import type { Values } from "../analysis/tables/template.ts";
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

export function memoryValues(recorded: RecordedMemory): Values {
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
  return {
    clients: most,
    size: size(bytes),
    rateMbps: rateMbps,
    delayMs: delayMs,
    figures: figuresTable(
      [
        `${most} clients`,
        "the edge, MiB",
        "the kernel, MiB",
        "both at once, MiB",
        "a client more: the edge, KiB",
        "both, KiB",
      ],
      rows,
    ),
    command: command,
    edgeRatio: withInterval(edgeRatio),
    serverRatio: withInterval(serverRatio),
  };
}

function largest(crowds: readonly CrowdFigures[], protocol: "h2" | "h3", clients: number): CrowdFigures {
  const found = crowds.find((crowd) => crowd.protocol === protocol && crowd.clients === clients);
  if (found === undefined) throw new Error(`There is no crowd of ${clients} over ${protocol}.`);
  return found;
}
