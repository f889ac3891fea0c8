import { armBars } from "../../analysis/charts/arm-bars.ts";
import { size } from "../../analysis/tables/format.ts";
import type { Report } from "../../harness/experiment.ts";
import { lastMachine, machineText } from "../../harness/machine-text.ts";
import { ARM_SETUPS } from "../../model/arm.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage } from "../../model/browser-pages.ts";
import { PUBLISHED_BROWSER, PUBLISHED_LOADS } from "./published.ts";
import { isPublished, lastOf, type Place, placeId, TIMEOUT_MS } from "./settings.ts";
import { slowStartsTable } from "./slow-start-table.ts";
import { type BrowserSummary, findGroup } from "./summary.ts";
import {
  allTable,
  busyTable,
  farLines,
  farTable,
  handshakeTable,
  networkText,
  publishedTable,
  visitsTable,
} from "./tables.ts";

/** The values of report.md. */
export function browserValues(summary: BrowserSummary) {
  const { command, day, browser, starts, places, rows, failures, timeouts, connections } = summary;
  const machine = lastMachine(starts);
  const far = farOf(places);
  return {
    command,
    day,
    browser,
    versions: { go: machine.go.replace("go", ""), quicGo: machine.quicGo, workerd: machine.workerd },
    machine: machineText(starts),
    networks: places
      .map((place) => `\`${placeId(place)}\` (${networkText(place)}; ${place.visits} visits of each page and arm)`)
      .join(", "),
    pages: (Object.keys(BROWSER_PAGES) as BrowserPage[])
      .map((page) => `\`${page}\` has ${BROWSER_PAGES[page].length + 1} requests and ${size(browserBytes(page))}`)
      .join(", "),
    rows,
    failures,
    timeouts,
    timeoutS: TIMEOUT_MS / 1_000,
    publishedLoads: PUBLISHED_LOADS,
    hasAllVisits: places.every(({ visits }) => visits >= PUBLISHED_LOADS),
    arms: [...new Set(places.flatMap((place) => place.arms))].map((arm) => ({
      name: arm,
      about: ARM_SETUPS[arm].about,
    })),
    published: publishedTable(summary),
    busy: busyTable(summary),
    visits: visitsTable(summary),
    far: farTable(summary, far),
    farLines: farLines(summary, far),
    connections: {
      place: connections.place,
      slowStarts: slowStartsTable(connections),
      handshake: handshakeTable(connections.packets).trimEnd(),
    },
    all: allTable(summary),
  };
}

export function browserPictures(summary: BrowserSummary): NonNullable<Report["pictures"]> {
  const { places } = summary;
  const farBars = (field: "loadMs" | "lcpMs") =>
    farOf(places).flatMap((place) =>
      [1, lastOf(place)].flatMap((navigation) => barsOf(summary, place, "page", navigation, field)),
    );
  return [
    {
      file: "fast.svg",
      spec: armBars(
        places
          .filter(isPublished)
          .flatMap((place) => place.pages.flatMap((page) => barsOf(summary, place, page, lastOf(place), "loadMs"))),
        { title: "Repeated visits on a fast line: page load", yTitle: "mean load time (ms)" },
      ),
    },
    {
      file: "far.svg",
      spec: armBars(farBars("loadMs"), {
        title: "Distant and lossy paths: page load",
        yTitle: "mean load time (ms)",
      }),
    },
    {
      file: "far-lcp.svg",
      spec: armBars(farBars("lcpMs"), {
        title: "Distant and lossy paths: largest contentful paint",
        yTitle: "mean LCP (ms)",
      }),
    },
  ];
}

function farOf(places: readonly Place[]): Place[] {
  return places.filter((place) => !isPublished(place));
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
