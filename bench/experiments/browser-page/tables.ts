import { figuresTable } from "../../analysis/tables/figures-table.ts";
import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { Interval } from "../../analysis/statistics/bootstrap.ts";
import type { HandshakePacket } from "./handshake.ts";
import { PUBLISHED_BROWSER } from "./published.ts";
import { isPublished, lastOf, type Place, placeId } from "./settings.ts";
import { type BrowserGroup, type BrowserSummary, findGroup } from "./summary.ts";

/** `20 Mbit/s, RTT 30 ms, loss 2 %, TCP with bbr` */
export function networkText({ network: { rateMbps, delayMs, lossRatio }, congestion }: Place): string {
  const path = rateMbps >= 10_000 ? "no limit but the machine" : `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms`;
  return `${path}${lossRatio > 0 ? `, loss ${lossRatio * 100} %` : ""}, TCP with ${congestion}`;
}

export function publishedTable(summary: BrowserSummary): string {
  const places = summary.places.filter(isPublished);
  return figuresTable(
    [
      "page",
      "published: h2 ms",
      "h3 ms",
      "h2 / h3",
      ...places.flatMap(({ network: { name } }) => [`${name}: h2 ms`, "h3 ms", "h2 / h3"]),
    ],
    PUBLISHED_BROWSER.map(({ page, about, h2Ms, h3Ms }) => [
      about,
      number(h2Ms),
      number(h3Ms),
      number(h2Ms / h3Ms),
      ...places.flatMap((place) => {
        const [h2, h3] = ["fixed-h2", "fixed-h3"].map((arm) =>
          findGroup(summary, placeId(place), page, arm, lastOf(place)),
        );
        return [number(h2?.loadMs.estimate), number(h3?.loadMs.estimate), ratioText(h3?.loadRatio)];
      }),
    ]),
  );
}

/** How busy the cores were, and how late the packets, on the lines that stand beside published ones. */
export function busyTable(summary: BrowserSummary): string {
  const lines = summary.places.filter(isPublished).flatMap((place) =>
    place.pages.flatMap((page) => {
      const own = ["fixed-h2", "fixed-h3"].map((arm) => findGroup(summary, placeId(place), page, arm, lastOf(place)));
      const [h2, h3] = own;
      return h2 === undefined || h3 === undefined
        ? []
        : [
            [
              `${place.network.name}, ${page}`,
              percent(h2.busyMedian),
              percent(h3.busyMedian),
              percent(h2.lateMedian),
              percent(h3.lateMedian),
            ],
          ];
    }),
  );
  return figuresTable(["", "h2: busiest core", "h3", "h2: packets late", "h3"], lines);
}

export function visitsTable(summary: BrowserSummary): string {
  return figuresTable(
    [
      "",
      "arm",
      "first: load ms",
      "h2 / this",
      "first: LCP ms",
      "repeated: load ms",
      "h2 / this",
      "repeated: LCP ms",
      "files over HTTP/3, first",
      "repeated",
    ],
    summary.places.flatMap((place) =>
      place.arms.flatMap((arm) => {
        const [first, last] = [1, lastOf(place)].map((navigation) =>
          findGroup(summary, placeId(place), "page", arm, navigation),
        );
        if (first === undefined || last === undefined) return [];
        return [
          [
            placeId(place),
            arm,
            withInterval(first.loadMs),
            ratioText(first.loadRatio),
            number(first.lcpMs?.estimate),
            withInterval(last.loadMs),
            ratioText(last.loadRatio),
            number(last.lcpMs?.estimate),
            percent(first.resourcesH3),
            percent(last.resourcesH3),
          ],
        ];
      }),
    ),
  );
}

export function farTable(summary: BrowserSummary, far: readonly Place[]): string {
  return figuresTable(
    [
      "",
      "arm",
      "visit",
      "load ms",
      "median",
      "over twice it",
      "h2 / this",
      "LCP ms",
      "h2 / this",
      "documents over HTTP/3",
      "documents offered it",
    ],
    far.flatMap((place) =>
      place.arms.flatMap((arm) =>
        Array.from({ length: lastOf(place) }, (_, index) =>
          findGroup(summary, placeId(place), "page", arm, index + 1),
        ).flatMap((group) =>
          group === undefined
            ? []
            : [
                [
                  placeId(place),
                  arm,
                  String(group.navigation),
                  withInterval(group.loadMs),
                  number(group.loadMedianMs),
                  `${group.slow} of ${group.n}`,
                  ratioText(group.loadRatio),
                  group.lcpMs === undefined ? "-" : withInterval(group.lcpMs),
                  ratioText(group.lcpRatio),
                  percent(group.documentsH3),
                  percent(group.offered),
                ],
              ],
        ),
      ),
    ),
  );
}

/** What repeated visits take on each path, in a sentence. */
export function farLines(summary: BrowserSummary, far: readonly Place[]) {
  return far.map((place) => {
    const of = (arm: string): BrowserGroup | undefined =>
      findGroup(summary, placeId(place), "page", arm, lastOf(place));
    const [h2, offer, adaptive] = ["fixed-h2", "always-offer", "adaptive"].map(of);
    return {
      id: placeId(place),
      network: networkText(place),
      h2: number(h2?.loadMs.estimate),
      offer: number(offer?.loadMs.estimate),
      adaptive: number(adaptive?.loadMs.estimate),
      documents: percent(adaptive?.documentsH3),
    };
  });
}

export function handshakeTable(packets: readonly HandshakePacket[]): string {
  return markdownTable(
    [
      { title: "ms", align: "right" },
      "from",
      "packet",
      { title: "number", align: "right" },
      { title: "bytes", align: "right" },
      "frames",
    ],
    packets.map(({ atMs, from, type, number: packet, bytes, frames }) => [
      atMs.toFixed(1),
      from,
      type,
      packet === null ? "-" : String(packet),
      bytes === null ? "-" : String(bytes),
      frames,
    ]),
  );
}

export function allTable({ groups }: BrowserSummary): string {
  return figuresTable(
    [
      "",
      "page",
      "arm",
      "visit",
      "n",
      "failed",
      "timeouts",
      "load ms",
      "median",
      "LCP ms",
      "first byte ms",
      "connecting ms",
      "busiest core",
      "packets late",
    ],
    groups.map((group) => [
      group.place,
      group.page,
      group.arm,
      String(group.navigation),
      String(group.n),
      String(group.failures),
      String(group.timeouts),
      withInterval(group.loadMs),
      number(group.loadMedianMs),
      group.lcpMs === undefined ? "-" : withInterval(group.lcpMs),
      number(group.ttfbMs),
      number(group.connectMs),
      percent(group.busyMedian),
      percent(group.lateMedian),
    ]),
  );
}

function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}
