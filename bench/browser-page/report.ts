import { ARM_SETUPS } from "../experiments/arms.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage } from "../lab/browser-site.ts";
import { armBars } from "../report/arm-bars.ts";
import { renderSvg } from "../report/chart.ts";
import { figuresTable } from "../report/figures-table.ts";
import { number, percent, size, withInterval } from "../report/format.ts";
import { markdownTable } from "../report/table.ts";
import type { Interval } from "../stats/bootstrap.ts";
import type { HandshakePacket } from "./handshake.ts";
import { type Place, placeId, TIMEOUT_MS } from "./settings.ts";
import type { BrowserGroup, BrowserSummary } from "./summary.ts";

/** Published (browser-page): a site behind CloudFront, a browser's developer tools, 50 loads each, cache off. Milliseconds. */
export const PUBLISHED_BROWSER: readonly {
  readonly page: BrowserPage;
  readonly about: string;
  readonly linkMbps: number;
  readonly h2Ms: number;
  readonly h3Ms: number;
}[] = [
  { page: "page", about: "15 requests, 1.9 MB", linkMbps: 900, h2Ms: 99.26, h3Ms: 99.1 },
  { page: "document", about: "the document alone", linkMbps: 900, h2Ms: 4.88, h3Ms: 6.08 },
  { page: "images", about: "six large images, 21.7 MB", linkMbps: 350, h2Ms: 472.76, h3Ms: 889.98 },
];

export interface BrowserReport {
  readonly markdown: string;
  readonly pictures: readonly { readonly file: string; readonly svg: string }[];
}

export async function browserReport(summary: BrowserSummary): Promise<BrowserReport> {
  const { places } = summary;
  const [fast, far] = [places.filter(isPublished), places.filter((place) => !isPublished(place))];
  const pictures = [
    {
      file: "fast.svg",
      svg: await renderSvg(
        armBars(
          fast.flatMap((place) => place.pages.flatMap((page) => barsOf(summary, place, page, lastOf(place), "loadMs"))),
          { title: "Repeated visits on a fast line: page load", yTitle: "mean load time (ms)" },
        ),
      ),
    },
    {
      file: "far.svg",
      svg: await renderSvg(
        armBars(
          far.flatMap((place) =>
            [1, lastOf(place)].flatMap((navigation) => barsOf(summary, place, "page", navigation, "loadMs")),
          ),
          { title: "Distant and lossy paths: page load", yTitle: "mean load time (ms)" },
        ),
      ),
    },
    {
      file: "far-lcp.svg",
      svg: await renderSvg(
        armBars(
          far.flatMap((place) =>
            [1, lastOf(place)].flatMap((navigation) => barsOf(summary, place, "page", navigation, "lcpMs")),
          ),
          { title: "Distant and lossy paths: largest contentful paint", yTitle: "mean LCP (ms)" },
        ),
      ),
    },
  ];
  const markdown = `${headOf(summary)}

## Published beside measured: repeated visits on a fast line

![Mean load times of repeated visits on a fast line](fast.svg)

${publishedTable(summary)}

${publishedText(summary)}

## First visit and repeated visit

The first visit of a browser that knows nothing of the site: \`always-offer\` opens TCP and loads over it, while QUIC is being opened in
the background; \`fixed-h3\` speaks QUIC from the first packet, as a browser would that knew from DNS (RFC 9460). A repeated visit uses
the connections that are open: it is the second one on a fast line, the third on the others. A bound that is "over" ten times the figure
comes of one load among few.

${visitsTable(summary)}

## Distant and lossy paths, all arms

![Mean load times on distant and lossy paths](far.svg)

![Mean largest contentful paint on distant and lossy paths](far-lcp.svg)

${farTable(summary, far)}

${farText(summary, far)}

## One QUIC handshake

A browser's first connection on \`${summary.handshake.place}\`, as the server's qlog has it (infra/edge, \`-qlog\`): times since the client's first packet. Initial,
Handshake and 1-RTT are the packet types of RFC 9000, section 17.2, in which TLS 1.3's flights travel.

${handshakeTable(summary.handshake.packets)}

## All figures

${allTable(summary)}
`;
  return { markdown, pictures };
}

function isPublished({ network: { name } }: Place): boolean {
  return name === "wired" || name === "unlimited";
}

/** The number of the last navigation of a visit: of a browser that knows the site. */
function lastOf({ pausesMs }: Place): number {
  return pausesMs.length + 1;
}

export function findGroup(
  { groups }: Pick<BrowserSummary, "groups">,
  place: string,
  page: string,
  arm: string,
  navigation: number,
): BrowserGroup | undefined {
  return groups.find(
    (one) => one.place === place && one.page === page && one.arm === arm && one.navigation === navigation,
  );
}

function barsOf(
  summary: BrowserSummary,
  place: Place,
  page: BrowserPage,
  navigation: number,
  field: "loadMs" | "lcpMs",
) {
  const id = placeId(place);
  const title = isPublished(place)
    ? `${place.network.name}, ${page}`
    : `${id}, ${navigation === 1 ? "first" : "repeated"}`;
  const published = place.network.name === "wired" ? PUBLISHED_BROWSER.find((one) => one.page === page) : undefined;
  return place.arms.flatMap((arm) => {
    const found = findGroup(summary, id, page, arm, navigation)?.[field];
    if (found === undefined) return [];
    const publishedMs = arm === "fixed-h2" ? published?.h2Ms : arm === "fixed-h3" ? published?.h3Ms : undefined;
    return [
      {
        network: title,
        arm,
        loadMs: found.estimate,
        lowMs: found.low,
        highMs: Math.min(found.high, 10 * found.estimate),
        publishedMs,
      },
    ];
  });
}

function headOf({ command, day, browser, starts, places, rows, failures, timeouts }: BrowserSummary): string {
  const machine = starts.at(-1)?.machine;
  if (machine === undefined) throw new Error("A report is of a run, and this one never started.");
  const commits = [...new Set(starts.map(({ machine: { commit } }) => commit))].join(", ");
  const arms = [...new Set(places.flatMap((place) => place.arms))];
  return `# browser-page: a real browser over HTTP/2 and HTTP/3

\`${command}\`, ${day}.

- Browser: Chromium ${browser}, headless, in a network namespace of its own behind the emulated path, its cache off. Each visit is a new
  browser context: no connection, no Alt-Svc, no cookie, and an address that the server has not seen.
- Stack: Go ${machine.go.replace("go", "")} net/http (HTTP/2 over the kernel's TCP) and quic-go ${machine.quicGo} (HTTP/3), workerd ${machine.workerd}, the same worker in every arm.
- Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB; commit ${commits}. The browser shares its
  cores with everything else: unlike other experiments, loads that kept a core busy count, as a browser always does.
- Networks: ${places.map((place) => `\`${placeId(place)}\` (${networkText(place)}; ${place.visits} visits of each page and arm)`).join(", ")}.
- Pages: ${Object.keys(BROWSER_PAGES)
    .map(
      (page) =>
        `\`${page}\` has ${BROWSER_PAGES[page as BrowserPage].length + 1} requests and ${size(browserBytes(page as BrowserPage))}`,
    )
    .join(", ")}.
- Load: from the navigation's start to the end of the load event. LCP: the largest contentful paint. Means with 95 % intervals
  (studentised bootstrap of the log).
- Rows: ${rows} navigations; failed: ${failures}; timeouts: ${timeouts} (they count with ${TIMEOUT_MS / 1_000} s). The published runs have 50 loads of each; where a
  visit takes half a minute, or nothing was published, there are fewer (\`--full\` makes 50 everywhere).
- Arms, in random order:
${arms.map((arm) => `  - \`${arm}\`: ${ARM_SETUPS[arm].about}`).join("\n")}`;
}

function networkText({ network: { rateMbps, delayMs, lossRatio }, congestion }: Place): string {
  const path = rateMbps >= 10_000 ? "no limit but the machine" : `${rateMbps} Mbit/s, RTT ${2 * delayMs} ms`;
  return `${path}${lossRatio > 0 ? `, loss ${lossRatio * 100} %` : ""}, TCP with ${congestion}`;
}

function publishedTable(summary: BrowserSummary): string {
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

function publishedText(summary: BrowserSummary): string {
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
  return `The published line carried 900 Mbit/s, 350 for the images, and the published server was a CDN's, as was its QUIC. Here \`wired\` is an emulated
path of 200 Mbit/s, and \`unlimited\` has no limit but the machine, as the published client may have had. How busy the busiest core was, and
how many packets left the emulated path over 1 ms late (medians of loads; the experiments of k6 leave out loads beyond 85 and 1 %):

${figuresTable(["", "h2: busiest core", "h3", "h2: packets late", "h3"], lines)}`;
}

function visitsTable(summary: BrowserSummary): string {
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

function farTable(summary: BrowserSummary, far: readonly Place[]): string {
  return figuresTable(
    [
      "",
      "arm",
      "visit",
      "load ms",
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

function farText(summary: BrowserSummary, far: readonly Place[]): string {
  const lines = far.map((place) => {
    const of = (arm: string): BrowserGroup | undefined =>
      findGroup(summary, placeId(place), "page", arm, lastOf(place));
    const [h2, offer, adaptive] = ["fixed-h2", "always-offer", "adaptive"].map(of);
    return `- \`${placeId(place)}\` (${networkText(place)}): repeated visits take ${number(h2?.loadMs.estimate)} ms over HTTP/2, ${number(offer?.loadMs.estimate)} with HTTP/3 always offered, ${number(adaptive?.loadMs.estimate)} with \`adaptive\`, whose
  browsers had ${percent(adaptive?.documentsH3)} of their documents over HTTP/3.`;
  });
  return `${lines.join("\n")}

A visit is three navigations. The answer to the first is a cold start's; the edge tells of its path when it has rested for 5 s, so
that the second navigation's answer is the first that knows the client, and the third goes by it.`;
}

function handshakeTable(packets: readonly HandshakePacket[]): string {
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

function allTable({ groups }: BrowserSummary): string {
  const table = figuresTable(
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
  return `<details><summary>Every place, page, arm and navigation</summary>\n\n${table}\n</details>`;
}

function ratioText(ratio: Interval | undefined): string {
  return ratio === undefined ? "" : withInterval(ratio);
}
