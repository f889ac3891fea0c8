import { PUBLISHED_BROWSER } from "../experiments/browser-page/published.ts";
import { type Place, placeId } from "../experiments/browser-page/settings.ts";
import { EARLY_BYTES, isEarly } from "../experiments/browser-page/slow-start.ts";
import { type BrowserGroup, type BrowserSummary, findGroup } from "../experiments/browser-page/summary.ts";
import { figuresTable } from "../analysis/tables/figures-table.ts";
import { number, percent, size, withInterval } from "../analysis/tables/format.ts";
import type { Interval } from "../analysis/statistics/bootstrap.ts";
import { claimed } from "./claimed.ts";

/** Of summary.json, what the page shows of browser-page. */
export type RecordedBrowser = Pick<BrowserSummary, "command" | "browser" | "places" | "groups" | "connections">;

export function browserSection(recorded: RecordedBrowser): string {
  const { command, browser, places } = recorded;
  const at = (place: string, arm: string, navigation: number, page = "page"): BrowserGroup => {
    const found = findGroup(recorded, place, page, arm, navigation);
    if (found === undefined) throw new Error(`There is no ${arm} in ${place} (${page}, ${navigation}).`);
    return found;
  };
  const ratio = (place: string, arm: string, navigation: number, page?: string): string =>
    ratioText(at(place, arm, navigation, page).loadRatio);
  const ms = (place: string, arm: string, navigation: number): string =>
    number(at(place, arm, navigation).loadMs.estimate);
  return `## A real browser

Published, of a site behind a CDN and a browser's developer tools, 50 loads each: no gain on a fast wired line, large images 1.9 times as slow
over HTTP/3, and a first visit that pays for a TCP connection before it knows of HTTP/3. Here Chromium ${browser} loads pages of the same size across
the emulated path: \`wired\` is 200 Mbit/s and an RTT of 2 ms, \`unlimited\` what this machine can do, \`distant\` 50 Mbit/s and an RTT of 150 ms, \`lossy\` 20
Mbit/s, an RTT of 30 ms and 2 % loss. A repeated visit uses the connections that are open: the second one on the first two, the third on the others,
as the edge has measured by then.

![Mean load times on distant and lossy paths, all arms, first and repeated visits](../bench/results/browser-page/far.svg)

${publishedTable(recorded, places)}

Below, h2 / this: HTTP/2's mean over this arm's, of the page with 15 requests; above 1 this arm is faster. \`fixed-h2\` is HTTP/2 only, \`fixed-h3\`
HTTP/3 from the first packet, \`always-offer\` begins on HTTP/2 and is always offered HTTP/3. A bound that is "over" ten times the figure comes of
one load among few: how far says nothing.

${armsTable(recorded, places)}

\`${command}\`; the [report](../bench/results/browser-page/report.md) has all figures, LCP, and one QUIC handshake packet by packet.

- **On a fast line**, where published are h2 / h3 of 1.00, 0.80 and 0.53 for page, document and large images: here ${ratio("wired-cubic", "fixed-h3", 2)}, ${ratio("wired-cubic", "fixed-h3", 2, "document")}
  and ${ratio("wired-cubic", "fixed-h3", 2, "images")}; without a limit ${ratio("unlimited-cubic", "fixed-h3", 2)}, ${ratio("unlimited-cubic", "fixed-h3", 2, "document")} and ${ratio("unlimited-cubic", "fixed-h3", 2, "images")}. HTTP/3 gains nothing there, as
  published; how much it loses agrees in none of the three. Browser and server share two cores here, and HTTP/3 keeps them busier.
- **A first visit** that is offered HTTP/3 has ${percent(at("distant-cubic", "always-offer", 1).resourcesH3)} of its files over HTTP/3 on the distant path, where QUIC's handshake takes 150 ms, and ${percent(at("wired-cubic", "always-offer", 1).resourcesH3)} on the fast
  line; h2 / this is ${ratio("distant-cubic", "always-offer", 1)} and ${ratio("wired-cubic", "always-offer", 1)}.
- **Where the published measurement did not look**: on the distant path repeated visits take ${ms("distant-cubic", "fixed-h2", 3)} ms over HTTP/2 and ${ms("distant-cubic", "always-offer", 3)} when HTTP/3 is
  offered; with loss ${ms("lossy-cubic", "fixed-h2", 3)} and ${ms("lossy-cubic", "always-offer", 3)} ms where the server's TCP has cubic, ${ms("lossy-bbr", "fixed-h2", 3)} and ${ms("lossy-bbr", "always-offer", 3)} where it has bbr.
- **For an operator**: \`adaptive\` has ${ms("distant-cubic", "adaptive", 3)}, ${ms("lossy-cubic", "adaptive", 3)} and ${ms("lossy-bbr", "adaptive", 3)} ms on these three, with ${percent(at("distant-cubic", "adaptive", 3).documentsH3)}, ${percent(at("lossy-cubic", "adaptive", 3).documentsH3)} and ${percent(at("lossy-bbr", "adaptive", 3).documentsH3)} of its documents over
  HTTP/3. Offering to all and offering to none each lose on one of them; on the distant path its mean holds ${claimed(at("distant-cubic", "adaptive", 3).slow === 1, "one slow visit")}, and its
  median is ${number(at("distant-cubic", "adaptive", 3).loadMedianMs)} ms beside always-offer's ${number(at("distant-cubic", "always-offer", 3).loadMedianMs)}.
- **A busy machine** can make HTTP/3 slow without a lost packet: QUIC's packets wait for the programs at both ends, and quic-go takes late
  samples of the RTT for a queue, ends slow start, and grows by about a packet a round trip from then on. On the distant path, which holds 937 kB,
  slow start ended below ${size(EARLY_BYTES)} in ${slowStartsText(recorded.connections)}.`;
}

/** `0 of 60 connections of 1 browser, and in 12 of 60 of 3 at a time` */
function slowStartsText({ slowStarts }: RecordedBrowser["connections"]): string {
  return slowStarts
    .map(({ browsers, connections }, i) => {
      const early = `${connections.filter(isEarly).length} of ${connections.length}`;
      return i === 0 ? `${early} connections of ${browsers} browser` : `in ${early} of ${browsers} at a time`;
    })
    .join(", and ");
}

function publishedTable(recorded: RecordedBrowser, places: readonly Place[]): string {
  const fast = places.filter(({ network: { name } }) => name === "wired" || name === "unlimited");
  return figuresTable(
    [
      "repeated visits",
      "published: h2 ms",
      "h3 ms",
      "h2 / h3",
      ...fast.flatMap(({ network: { name } }) => [`${name}: h2 ms`, "h3 ms", "h2 / h3"]),
    ],
    PUBLISHED_BROWSER.map(({ page, about, h2Ms, h3Ms }) => [
      about,
      number(h2Ms),
      number(h3Ms),
      number(h2Ms / h3Ms),
      ...fast.flatMap((place) => {
        const [h2, h3] = ["fixed-h2", "fixed-h3"].map((arm) => findGroup(recorded, placeId(place), page, arm, 2));
        return [number(h2?.loadMs.estimate), number(h3?.loadMs.estimate), ratioText(h3?.loadRatio)];
      }),
    ]),
  );
}

function armsTable(recorded: RecordedBrowser, places: readonly Place[]): string {
  const far = places.filter(({ arms }) => arms.includes("adaptive"));
  return figuresTable(
    ["", "arm", "first visit: ms", "h2 / this", "repeated: ms", "h2 / this", "repeated: LCP ms"],
    far.flatMap((place) =>
      place.arms.map((arm) => {
        const [first, last] = [1, place.pausesMs.length + 1].map((navigation) =>
          findGroup(recorded, placeId(place), "page", arm, navigation),
        );
        return [
          placeId(place),
          arm,
          number(first?.loadMs.estimate),
          ratioText(first?.loadRatio),
          number(last?.loadMs.estimate),
          ratioText(last?.loadRatio),
          number(last?.lcpMs?.estimate),
        ];
      }),
    ),
  );
}

function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}
