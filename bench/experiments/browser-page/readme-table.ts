import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { withInterval } from "../../analysis/tables/format.ts";
import { placeId } from "./settings.ts";
import { type BrowserSummary, findGroup } from "./summary.ts";

const ARMS = [
  ["fixed-h2", "HTTP/2 only, ms"],
  ["always-offer", "HTTP/3 offered to all"],
  ["adaptive", "adaptive"],
] as const;

/** Repeated visits of a browser on the paths where something is to be decided: for the README. */
export function browserReadmeTable(summary: Pick<BrowserSummary, "places" | "groups">): string {
  return figuresTable(
    ["path", ...ARMS.map(([, title]) => title)],
    summary.places
      .filter(({ arms }) => arms.includes("adaptive"))
      .map((place) => {
        const { rateMbps, delayMs, lossRatio } = place.network;
        return [
          `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms, loss ${lossRatio * 100} %, ${place.congestion}`,
          ...ARMS.map(([arm]) => {
            const group = findGroup(summary, placeId(place), "page", arm, place.pausesMs.length + 1);
            return group === undefined ? "-" : withInterval(group.loadMs);
          }),
        ];
      }),
  );
}
