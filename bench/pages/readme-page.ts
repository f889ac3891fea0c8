import { fillFile } from "../analysis/tables/template.ts";
import { smallLatency } from "./cost-section.ts";
import type { Recorded } from "./recorded.ts";
import { meanRegret } from "./saving-section.ts";
import { winnersTable } from "./network-tables.ts";

/** README.md, with the figures that were recorded. */
export function readmePage({ evaluation, overhead }: Pick<Recorded, "evaluation" | "overhead">): string {
  return fillFile("bench/pages/readme.md", {
    winners: winnersTable(evaluation),
    command: evaluation.command,
    regretCubic: meanRegret(evaluation, "cubic"),
    regretBbr: meanRegret(evaluation, "bbr"),
    adaptiveLatency: smallLatency(overhead, "adaptive"),
    subresourceLatency: smallLatency(overhead, "subresource"),
    bareLatencyMs: smallLatency(overhead, "bare"),
  });
}
