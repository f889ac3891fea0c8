import { number, percent, withInterval } from "../../analysis/tables/format.ts";
import { type Column, tableOf } from "../../analysis/tables/table-of.ts";
import { lastMachine, machineText } from "../../harness/machine-text.ts";
import { changingCosts, findGroup, type Group, type OffersSummary, staysAndThenSwitches } from "./findings.ts";
import { PAGES, type Place, RETURN, type Treatment } from "./settings.ts";

const FAR_MS = 80;

/** The values of report.md. */
export function offersValues(summary: OffersSummary) {
  const { command, day, starts, places, rows, late, lateRatioMax, failures, timeouts } = summary;
  const machine = lastMachine(starts);
  const treatments = [...new Map(places.flatMap((place) => place.treatments).map((one) => [one.name, one])).values()];
  return {
    command,
    day,
    versions: { go: machine.go.replace("go", ""), quicGo: machine.quicGo },
    machine: machineText(starts),
    rows,
    late,
    lateMax: percent(lateRatioMax),
    failures,
    timeouts,
    rateMbps: places[0]?.network.rateMbps ?? 0,
    treatments: treatments.map(({ name, about }) => ({ name, about })),
    farMs: FAR_MS,
    stays: staysAndThenSwitches(summary, FAR_MS),
    changing: changingCosts(summary),
    changes: changesTable(summary),
    switches: switchesTable(summary),
    all: allTable(summary),
  };
}

interface Line {
  readonly place: Place;
  readonly treatment: Treatment;
}

function linesOf({ places }: OffersSummary): Line[] {
  return places.flatMap((place) => place.treatments.map((treatment) => ({ place, treatment })));
}

const NAMES: readonly Column<Line>[] = [
  ["network", ({ place }) => place.network.name],
  ["TCP", ({ place }) => place.congestion],
  ["treatment", ({ treatment }) => treatment.name],
];

function pageName(page: number): string {
  return page === RETURN ? "return" : `page ${page}`;
}

/** For each page, a column of what is told of it. */
function byPage(summary: OffersSummary, text: (group: Group | undefined) => string): Column<Line>[] {
  return Array.from({ length: PAGES }, (_, i) => [
    pageName(i + 1),
    ({ place, treatment }) => text(findGroup(summary, place, treatment.name, i + 1)),
  ]);
}

/** How many times as fast the offer made each page: of all treatments, or of one. */
export function changesTable(summary: OffersSummary, of?: string): string {
  const offered = linesOf(summary).filter(({ treatment: { name, base } }) => name !== base && (of ?? name) === name);
  const names = of === undefined ? NAMES : NAMES.slice(0, 2);
  return tableOf(offered, [...names, ...byPage(summary, (group) => withInterval(group?.ratio))]);
}

/** Which share of the files came over HTTP/3. */
function switchesTable(summary: OffersSummary): string {
  const offered = linesOf(summary).filter(({ treatment }) => treatment.name !== treatment.base);
  return tableOf(offered, [...NAMES, ...byPage(summary, (group) => percent(group?.filesH3))]);
}

function allTable({ groups }: OffersSummary): string {
  return tableOf(groups, [
    ["network", ({ network }) => network],
    ["TCP", ({ congestion }) => congestion],
    ["treatment", ({ treatment }) => treatment],
    ["page", ({ page }) => pageName(page)],
    ["n", ({ n }) => String(n)],
    ["load ms", ({ loadMs }) => withInterval(loadMs)],
    ["documents over HTTP/3", ({ documentsH3 }) => percent(documentsH3)],
    ["files", ({ filesH3 }) => percent(filesH3)],
    ["pages over both", ({ mixed }) => percent(mixed)],
    ["busiest core", ({ busy }) => number(busy)],
  ]);
}
