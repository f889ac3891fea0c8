import { meanInterval, ratioOfMeansInterval } from "../../analysis/statistics/bootstrap.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { mean } from "../../analysis/statistics/summary.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { tableOf } from "../../analysis/tables/table-of.ts";
import type { Recorded, Report } from "../../harness/experiment.ts";
import { lastDay, lastMachine, onceEach, runValues } from "../../harness/machine.ts";
import { doesCount, type FairnessRow, type FairPlace, NEWCOMERS, type Newcomer } from "./row.ts";

const TITLES: Readonly<Record<Newcomer, string>> = {
  cubic: "TCP cubic",
  bbr: "TCP bbr",
  "quic-go": "QUIC quic-go",
  "quiche-cubic": "QUIC quiche, cubic",
  "quiche-bbr2": "QUIC quiche, BBRv2",
};

/** What orders and resamples are drawn from. */
export const SEED = 1;

export type FairnessSummary = ReturnType<typeof fairnessSummary>;
type Found = FairnessSummary["places"][number];

export function fairnessSummary(
  run: Pick<Recorded<unknown, FairnessRow>, "rows" | "command" | "starts">,
  places: readonly FairPlace[],
) {
  const rows = onceEach(run.rows);
  const counted = rows.filter(doesCount);
  const found = places.flatMap((place) => {
    const { rateMbps, rttMs, queueBdp, others } = place;
    const here = counted.filter(
      (row) => row.rateMbps === rateMbps && row.rttMs === rttMs && row.queueBdp === queueBdp && row.others === others,
    );
    const of = (sender: Newcomer, field: "othersMbps" | "queueMs" | "lostRatio"): number[] =>
      here.flatMap((row) => (row.sender === sender ? (row[field] ?? []) : []));
    return NEWCOMERS.map((sender) => {
      const random = seededRandom(SEED, "fairness", rateMbps, rttMs, queueBdp, others, sender);
      const shares = here.flatMap(({ sender: own, ownMbps, othersMbps }) =>
        own === sender && ownMbps !== null && othersMbps !== null
          ? [(ownMbps / (ownMbps + othersMbps)) * (others + 1)]
          : [],
      );
      const [theirs, besideCubic] = [of(sender, "othersMbps"), of("cubic", "othersMbps")];
      const canCompare = sender !== "cubic" && Math.min(theirs.length, besideCubic.length) > 0;
      return {
        ...place,
        sender,
        n: shares.length,
        /** The newcomer's share of the goodput over its fair one; 1 is fair. */
        share: shares.length === 0 ? undefined : meanInterval(shares, { random }),
        /** The others' goodput over theirs beside a newcomer with cubic. What is missing to 1 is the harm of Ware et al. (2019). */
        kept: canCompare ? ratioOfMeansInterval(theirs, besideCubic, { random }) : undefined,
        loadedRttMs: rttMs + mean(of(sender, "queueMs")),
        lostRatio: mean(of(sender, "lostRatio")),
      };
    });
  });
  const left = { failed: rows.filter(({ outcome }) => outcome === "failed").length, counted: counted.length };
  return { command: run.command, day: lastDay(rows), starts: run.starts, rows: rows.length, ...left, places: found };
}

/** From the lowest to the highest estimate. */
function range(intervals: readonly (Found["share"] | undefined)[]): string {
  const estimates = intervals.flatMap((one) => one?.estimate ?? []);
  return estimates.length === 0 ? "-" : `${number(Math.min(...estimates))} to ${number(Math.max(...estimates))}`;
}

export function fairnessReport(summary: FairnessSummary): Report {
  const { starts, day, rows, counted, failed, places } = summary;
  const machine = lastMachine(starts);
  const senders = NEWCOMERS.map((sender) => {
    const own = places.filter((one) => one.sender === sender && one.n > 0);
    return {
      title: TITLES[sender],
      share: range(own.map(({ share }) => share)),
      more: own.filter(({ share }) => share !== undefined && share.low > 1).length,
      less: own.filter(({ share }) => share !== undefined && share.high < 1).length,
      kept: range(own.map(({ kept }) => kept)),
      harmed: own.filter(({ kept }) => kept !== undefined && kept.high < 1).length,
      places: own.length,
    };
  });
  const [cubic, ...newcomers] = senders;
  if (cubic === undefined) throw new Error("Cubic is the newcomer that others are compared with.");
  const { share, more, less } = cubic;
  return {
    values: {
      ...runValues(summary),
      day,
      rows,
      counted,
      failed,
      kernel: machine.kernel,
      quiche: machine.quiche ?? "-",
      cubic: { share, more, less, places: cubic.places },
      senders: newcomers,
      table: tableOf(places, [
        ["newcomer", ({ sender }) => TITLES[sender]],
        ["Mbit/s", ({ rateMbps }) => String(rateMbps)],
        ["RTT, ms", ({ rttMs }) => String(rttMs)],
        ["queue, BDP", ({ queueBdp }) => String(queueBdp)],
        ["others", ({ others }) => String(others)],
        ["n", ({ n }) => String(n)],
        ["its share, of a fair one", (one) => withInterval(one.share)],
        ["the others' goodput, of that beside cubic", ({ kept }) => withInterval(kept)],
        ["RTT under load, ms", ({ loadedRttMs }) => number(loadedRttMs)],
        ["packets lost", ({ lostRatio }) => percent(lostRatio)],
      ]),
    },
  };
}
