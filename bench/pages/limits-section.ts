import type { Values } from "../analysis/tables/template.ts";
import { number } from "../analysis/tables/format.ts";
import { PUBLISHED_LIMITS } from "../experiments/bandwidth-limits/published.ts";
import { slowLine, variesAsPublished } from "./claims.ts";
import type { SeriesSummary } from "./recorded.ts";
import { aheadAt, cellAt, ratioAt, ratiosAt, SIZES } from "./series-figures.ts";
import { seriesTable, secondsText } from "./series-table.ts";

export function limitsValues(limits: SeriesSummary): Values {
  const { h3 } = cellAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic");
  const short = cellAt(limits, "queue", "30", "cubic").h2;
  const far = cellAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic").h2;
  return {
    loads: h3?.n,
    meanS: number((h3?.meanMs.estimate ?? Number.NaN) / 1000),
    deviationMs: number(h3?.sdMs),
    timeouts: h3?.timeouts,
    aheadAt1Mbps: aheadAt(limits, "1 Mbit/s"),
    aheadAt100Mbps: aheadAt(limits, "100 Mbit/s"),
    shortQueueS: secondsText(short?.meanMs.estimate),
    shortQueueDeviationMs: number(short?.sdMs),
    farS: secondsText(far?.meanMs.estimate),
    farDeviationMs: number(far?.sdMs),
    bySize: ratiosAt(limits, "size", [["1", "1 kB"], ...SIZES.slice(1)], "cubic"),
    reused: ratioAt(limits, "connection", "reused", "cubic"),
    moved: ratioAt(limits, "connection", "moved", "cubic"),
    unmoved: ratioAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic"),
    lossy: ratioAt(limits, "loss", "5", "cubic"),
    lossyWithBbr: ratioAt(limits, "loss", "5", "bbr"),
    command: limits.command,
    times: seriesTable(limits, "limit", PUBLISHED_LIMITS),
    slowLine: slowLine(cellAt(limits, "limits", "1 Mbit/s", "cubic")),
    varying: variesAsPublished(cellAt(limits, "limits", "10 Mbit/s, 50 ms", "cubic")),
  };
}
