import { ARM_SETUPS } from "../../model/arm.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage } from "../../model/browser-pages.ts";
import { armBars } from "../../analysis/charts/arm-bars.ts";
import { renderSvg } from "../../analysis/charts/chart.ts";
import { size } from "../../analysis/tables/format.ts";
import { PUBLISHED_BROWSER, PUBLISHED_LOADS } from "./published.ts";
import { isPublished, lastOf, type Place, placeId, TIMEOUT_MS } from "./settings.ts";
import { slowStartText } from "./slow-start-text.ts";
import { type BrowserSummary, findGroup } from "./summary.ts";
import {
  allTable,
  farTable,
  farText,
  handshakeTable,
  networkText,
  publishedTable,
  publishedText,
  visitsTable,
} from "./tables.ts";

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

## Why some visits over HTTP/3 are slow

${slowStartText(summary.connections)}

## One QUIC handshake

A browser's first connection on \`${summary.connections.place}\`, as the server's qlog has it (infra/edge, \`-qlog\`): times since the client's first packet. Initial,
Handshake and 1-RTT are the packet types of RFC 9000, section 17.2, in which TLS 1.3's flights travel.

${handshakeTable(summary.connections.packets)}

## All figures

${allTable(summary)}
`;
  return { markdown, pictures };
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

function visitsText(places: readonly Place[]): string {
  return places.every(({ visits }) => visits >= PUBLISHED_LOADS)
    ? `The published runs have ${PUBLISHED_LOADS} loads of each too.`
    : `The published runs have ${PUBLISHED_LOADS} loads of each; where a
  visit takes half a minute, or nothing was published, there are fewer (\`--full\` makes ${PUBLISHED_LOADS} everywhere).`;
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
- Rows: ${rows} navigations; failed: ${failures}; timeouts: ${timeouts} (they count with ${TIMEOUT_MS / 1_000} s). ${visitsText(places)}
- Arms, in random order:
${arms.map((arm) => `  - \`${arm}\`: ${ARM_SETUPS[arm].about}`).join("\n")}`;
}
