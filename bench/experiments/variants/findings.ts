import { LOSS_NODES } from "../../../policy-api/core/loss-nodes.ts";
import { GAINS, type LogTime, type Place, placesOf, stacksOf } from "../../analysis/senders/places.ts";
import { percent, size as sizeText } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import type { Report } from "../../harness/experiment.ts";
import type { LoadsRecorded } from "../../harness/loads/recorded.ts";
import { CONGESTIONS } from "../../model/congestion.ts";
import { counts } from "../../model/load-row.ts";
import { QUIC_ARMS, type QuicSender } from "../../model/senders.ts";
import { bestPower, type Counted, type PowerScores, scoresOf } from "./power.ts";

export const VARIANTS = [
  "plain",
  "30 files",
  "short queue",
  "10 Mbit/s",
  "200 Mbit/s",
  "loss in bursts",
  "jitter",
  "3 MB",
  "10 MB",
] as const;

/** As names of cells have it. */
export function shortName(variant: (typeof VARIANTS)[number]): string {
  return variant.toLowerCase().replaceAll(/\W/g, "");
}

const QUICS = Object.keys(QUIC_ARMS) as QuicSender[];

/** A place under one variant. The name of its network says which place and which variant. */
export function variantsSummary({ rows, experiment }: LoadsRecorded) {
  const byCell = Map.groupBy(rows, ({ cell }) => cell);
  const byName = Map.groupBy(experiment.cells, ({ network }) => network.name);
  const found = [...byName].flatMap(([name, cells]) => {
    const variant = VARIANTS.find((one) => name.endsWith(`-${shortName(one)}`));
    const own = cells.flatMap(({ id }) => byCell.get(id) ?? []);
    const [place] = placesOf(own);
    const [first] = cells;
    if (variant === undefined || place === undefined || first === undefined) return [];
    const at = name.slice(0, name.lastIndexOf("-"));
    return [{ variant, at, bytes: first.imageBytes * (first.images ?? 1), ...place }];
  });
  return { places: found, powers: powersOf(rows) };
}

/** Where nothing is lost, where packets are lost one by one, and where they are lost in bursts. */
const KINDS = [
  { kind: "none", variant: "plain", lossRatio: 0 },
  { kind: "single", variant: "plain", lossRatio: 0.005 },
  { kind: "bursts", variant: "loss in bursts", lossRatio: 0.005 },
] as const;

/** How much a packet says of a path: how well beliefs with other powers find each kind of loss in what senders counted. */
function powersOf(rows: LoadsRecorded["rows"]): PowerScores[] {
  const counted = ({ variant, lossRatio }: (typeof KINDS)[number]): Counted[] =>
    rows
      .filter((row) => {
        const name = row.cell.slice(0, -row.congestion.length - 1);
        return counts(row) && name.endsWith(`-${100 * lossRatio}-${shortName(variant)}`);
      })
      .flatMap((row): Counted[] => {
        const isQuic = row.documentProtocol === "h3";
        const sent = isQuic ? row.quicPacketsSent : row.tcpPacketsSent;
        const lost = isQuic ? row.quicPacketsLost : row.tcpPacketsLost;
        return sent === null || lost === null ? [] : [{ lossRatio, sent, lost: Math.min(lost, sent) }];
      });
  return scoresOf(KINDS.map(counted));
}

type Varied = ReturnType<typeof variantsSummary>["places"][number];

/** Of a later page: where senders differ most. */
function gainAt(place: Place | undefined, { tcp, quic }: ReturnType<typeof stacksOf>[number]): LogTime | undefined {
  const [h2, h3] = [place?.times[tcp], place?.times[quic]];
  return h2 === undefined || h3 === undefined ? undefined : GAINS.later(h2, h3);
}

export function variantsReport({ places, powers }: ReturnType<typeof variantsSummary>): Report {
  const plain = places.filter(({ variant }) => variant === "plain");
  const tables = stacksOf(places, CONGESTIONS, QUICS).map((stack) => ({
    ...stack,
    table: tableOf(plain, [
      ["size", ({ bytes }) => sizeText(bytes)],
      ["RTT", ({ rttMs }) => `${rttMs} ms`],
      ["loss", ({ lossRatio }) => percent(lossRatio)],
      ...VARIANTS.map((variant): Column<Varied> => [
        variant,
        ({ at }) => {
          const gain = gainAt(
            places.find((one) => one.at === at && one.variant === variant),
            stack,
          );
          return gain === undefined ? "-" : `${gain.log.toFixed(3)} ± ${gain.se.toFixed(3)}`;
        },
      ]),
    ]),
  }));
  const scores = tableOf(powers, [
    ["power", ({ power }) => String(power)],
    ...KINDS.map(({ kind }, i): Column<PowerScores> => [kind, ({ kinds }) => (kinds[i] ?? Number.NaN).toFixed(2)]),
    ["mean", ({ all }) => all.toFixed(2)],
  ]);
  return { values: { tables, scores, bestPower: bestPower(powers), nodes: LOSS_NODES.length } };
}
