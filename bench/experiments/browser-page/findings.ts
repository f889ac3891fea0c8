import { armBars } from "../../analysis/charts/arm-bars.ts";
import { size } from "../../analysis/tables/format.ts";
import type { Report } from "../../harness/experiment.ts";
import { lastMachine, machineText } from "../../harness/machine-text.ts";
import { ARM_SETUPS } from "../../model/arm.ts";
import { BROWSER_PAGES, browserBytes, type BrowserPage } from "../../model/browser-pages.ts";
import { PUBLISHED_BROWSER, PUBLISHED_LOADS } from "./published.ts";
import { TIMEOUT_MS } from "../../lab/navigate.ts";
import { handshakeTable } from "./handshake.ts";
import { isFar, lastOf, type Place, placeId } from "./settings.ts";
import { slowStartsTable } from "./slow-start.ts";
import { type BrowserSummary, findGroup } from "./summary.ts";
import { allTable, filesTable, networkText, publishedTable, visitsTable } from "./tables.ts";

/** The values of report.md. */
export function browserValues(summary: BrowserSummary) {
  const { command, day, browser, starts, places, rows, failures, timeouts, connections } = summary;
  const machine = lastMachine(starts);
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
    visits: visitsTable(summary),
    files: filesTable(summary),
    connections: {
      place: connections.place,
      slowStarts: slowStartsTable(connections.slowStarts),
      handshake: handshakeTable(connections.packets).trimEnd(),
    },
    all: allTable(summary),
  };
}

export function browserPictures(summary: BrowserSummary): NonNullable<Report["pictures"]> {
  const { places } = summary;
  const fast = places
    .filter((place) => !isFar(place))
    .flatMap((place) => place.pages.flatMap((page) => barsOf(summary, place, page, lastOf(place), "loadMs")));
  const far = (field: "loadMs" | "lcpMs") =>
    places
      .filter(isFar)
      .flatMap((place) => [1, lastOf(place)].flatMap((visit) => barsOf(summary, place, "page", visit, field)));
  const [load, paint] = ["mean load time (ms)", "mean LCP (ms)"];
  const paints = "Distant and lossy paths: largest contentful paint";
  return [
    { file: "fast.svg", spec: armBars(fast, { title: "Repeated visits on a fast line: page load", yTitle: load }) },
    { file: "far.svg", spec: armBars(far("loadMs"), { title: "Distant and lossy paths: page load", yTitle: load }) },
    { file: "far-lcp.svg", spec: armBars(far("lcpMs"), { title: paints, yTitle: paint }) },
  ];
}

function barsOf(
  summary: BrowserSummary,
  place: Place,
  page: BrowserPage,
  navigation: number,
  field: "loadMs" | "lcpMs",
) {
  const id = placeId(place);
  const network = isFar(place) ? `${id}, ${navigation === 1 ? "first" : "repeated"}` : `${place.network.name}, ${page}`;
  const published = place.network.name === "wired" ? PUBLISHED_BROWSER.find((one) => one.page === page) : undefined;
  return place.arms.flatMap((arm) => {
    const found = findGroup(summary, id, page, arm, navigation)?.[field];
    if (found === undefined) return [];
    const publishedMs = arm === "fixed-h2" ? published?.h2Ms : arm === "fixed-h3" ? published?.h3Ms : undefined;
    const highMs = Math.min(found.high, 10 * found.estimate);
    return [{ network, arm, loadMs: found.estimate, lowMs: found.low, highMs, publishedMs }];
  });
}
