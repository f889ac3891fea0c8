import type { Cell } from "../../model/cell.ts";
import type { LoadExperiment } from "../../model/load-experiment.ts";
import { sessionsOf } from "../../model/sessions.ts";

const PACKET_BYTES = 1_400;
/** Connection setup, the pause between sessions, closing samples, a share of k6's start. */
const OVERHEAD_SECONDS = 0.5;

/**
 * About what a path carries for one connection: its rate, or what loss leaves a loss-driven sender (Mathis, Semke,
 * Mahdavi, Ott 1997: MSS / RTT * sqrt(3/2) / sqrt(p)), bytes per second. For planning only.
 */
export function expectedRateBps({ rateMbps, delayMs, lossRatio }: Cell["network"]): number {
  const rateBps = (rateMbps * 1e6) / 8;
  const rttS = (2 * delayMs + 1) / 1000;
  return lossRatio === 0 ? rateBps : Math.min(rateBps, ((PACKET_BYTES / rttS) * Math.sqrt(1.5)) / Math.sqrt(lossRatio));
}

/** About how long one load takes, seconds. */
export function expectedSeconds(experiment: LoadExperiment, cell: Cell, load: LoadExperiment["loads"][number]): number {
  const bytes = sessionsOf(load.flow, load.arm, cell)
    .flatMap(({ pages }) => pages.flatMap(({ document, subresources }) => [document, ...subresources]))
    .reduce((sum, path) => sum + Number(/\/image\/(\d+)$/.exec(path)?.[1] ?? 0), 0);
  const seconds = OVERHEAD_SECONDS + bytes / expectedRateBps(cell.network);
  return Math.min(seconds, experiment.timeoutMs / 1000);
}

/** Whether one load may keep this machine's cores or its path so busy that another beside it would be measured too. */
export function isHeavy(cell: Cell): boolean {
  const HEAVY_BPS = 4_000_000;
  return cell.isAlone === true || expectedRateBps(cell.network) > HEAVY_BPS;
}
