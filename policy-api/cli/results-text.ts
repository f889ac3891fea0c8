import type { Results, Slice } from "../api/contract/results.ts";
import type { SavedView } from "./dashboard-page/data.ts";
import { count, counted, percent } from "./quantities.ts";
import { nameList, table } from "./table.ts";

type NamedSlice = readonly [name: string, slice: Slice];

function classText({ fromMs, toMs }: Results["rttClasses"][number]): string {
  if (toMs === null) return `RTT ${fromMs} ms and more`;
  return fromMs === 0 ? `RTT under ${toMs} ms` : `RTT ${fromMs} to ${toMs} ms`;
}

/** `2.6 to 5.0`, in percent. Undefined while too few clients have reported. */
function savedRange(slice: Slice, outcome: "load" | "lcp"): string | undefined {
  const { saved } = slice[outcome];
  return saved === null ? undefined : `${inPercent(saved.low)} to ${inPercent(saved.high)}`;
}

/** What is claimed, or in a few words why nothing is. Undefined while too few clients have reported. */
function claimText(slice: Slice, outcome: "load" | "lcp", grounds: Results["grounds"]): string | undefined {
  const { saved, claim } = slice[outcome];
  if (saved === null) return undefined;
  if (claim.kind !== "none") return claim.kind;
  if (grounds.objections.length > 0) return "in doubt";
  return saved.low > 0 || saved.high < 0 ? "not for all pages" : "not yet";
}

export function inPercent(share: number): string {
  return (share * 100).toFixed(1);
}

/** Whose clients are missing, as a sentence. Undefined if every object of the store answered. */
export function missingObjects({ asked, answered }: Results["objects"]): string | undefined {
  return answered < asked
    ? `${count(asked - answered)} of ${counted(asked, "object")} of the store did not answer: their clients are missing.`
    : undefined;
}

/** How many autonomous systems the tables have, and how many countries. */
const PLACES_SHOWN = 10;

/** Where nobody was drawn. */
const HOW_TO_DRAW = [
  "To draw some, give the policy exploration and reports, such as",
  '  "exploration": { "share": 0.5 }, "reports": { "share": 0.05, "inject": true }',
  "and push and activate it. docs/measure-visitors.md says what visitors' pages then tell.",
];

/** Results as tables, and last the sentence. */
export function resultsText(results: Results, columns: number): string {
  const { version, objects, everyone, cells, grounds, sentence } = results;
  const slices = slicesOf(results);
  const notes = [
    ...doubtsOf(results),
    ...(cells.length > 0
      ? [`By RTT and bytes at once (${counted(cells.length, "cell")} of the gain table): with --json.`]
      : []),
  ];
  const isEmpty = isEmptyOf(results);
  const tables = [
    `Version ${version}. A / B: A is for clients that were offered HTTP/3, B for clients that were not. \`saved\` is an interval of 95 %. Each ` +
      "holds by itself, however often you look. The site's claim is that of `all`, about the load. Claims: " +
      "`-`, too few clients; `not yet`, the interval holds 0; `not for all pages`, it would hold 0 if pages without a report were slow; " +
      "`in doubt`, a sentence below says what speaks against it.",
    "",
    "Time until the load event",
    timesTable(slices, "load", grounds, columns),
    "",
    ...(everyone.offered.lcp === null && everyone.withheld.lcp === null
      ? ["Largest Contentful Paint: too few pages said it."]
      : ["Largest Contentful Paint", timesTable(slices, "lcp", grounds, columns)]),
    "",
    "Pages",
    pagesTable(slices, columns),
    "",
  ];
  return [
    ...(isEmpty ? [] : tables),
    nameList(besides(results)),
    "",
    ...(notes.length === 0 ? [] : [...notes, ""]),
    [sentence, ...networksShown(results)].join(" "),
    ...(isEmpty && objects.answered > 0 ? HOW_TO_DRAW : []),
  ].join("\n");
}

const COUNTRIES = new Intl.DisplayNames("en", { type: "region" });

/** `Japan (JP)` */
function countryText(country: string): string {
  return `${COUNTRIES.of(country)} (${country})`;
}

/** Names of networks, by the numbers of their autonomous systems. */
export type NetworkNames = ReadonlyMap<number, string>;

/** `AS64496`, or `a name (AS64496)` */
function networkText(asn: number, names?: NetworkNames): string {
  const name = names?.get(asn);
  return name === undefined ? `AS${asn}` : `${name} (AS${asn})`;
}

/** The load time's part of the results, for a page. */
export function savedView(results: Results, names?: NetworkNames): SavedView {
  const isEmpty = isEmptyOf(results);
  const rows = slicesOf(results, names).flatMap(([name, slice]): SavedView["rows"] => {
    const clients = both(slice, (arm) => arm.load?.clients, count);
    if (clients === undefined) return [];
    const saved = savedRange(slice, "load");
    return [
      [
        name,
        clients,
        saved === undefined ? "too few clients" : `${saved} %`,
        claimText(slice, "load", results.grounds) ?? "",
      ],
    ];
  });
  return {
    version: results.version,
    sentence: [results.sentence, ...networksShown(results, names)].join(" "),
    rows,
    doubts: [...doubtsOf(results), ...(isEmpty && results.objects.answered > 0 ? [HOW_TO_DRAW.join("\n")] : [])],
  };
}

/** Networks whose own clients show an effect, also where all together do not. */
function networksShown({ autonomousSystems }: Results, names?: NetworkNames): readonly string[] {
  const shown = (["faster", "slower"] as const).flatMap((kind) => {
    const whose = autonomousSystems.slice(0, PLACES_SHOWN).filter(({ load }) => load.claim.kind === kind);
    return whose.length === 0 ? [] : [`${kind} for ${whose.map(({ asn }) => networkText(asn, names)).join(", ")}`];
  });
  return shown.length === 0
    ? []
    : [`Networks by themselves: pages of those who are offered HTTP/3 are ${shown.join(", and ")}.`];
}

function isEmptyOf({ everyone }: Results): boolean {
  return everyone.offered.clients + everyone.withheld.clients === 0;
}

function doubtsOf({ objects, everyone, grounds, harm, harmComparable }: Results): readonly string[] {
  return [
    missingObjects(objects),
    ...grounds.objections.map(({ text }) => text),
    harm?.text,
    harm === null &&
      !harmComparable &&
      "Whether this version harms is not known: where it offers HTTP/3, clients cannot be compared.",
    everyone.load.claim.withstandsLies === false &&
      "Visitors can invent the times of their pages. If 5 % of them did, as well as they can, the claim of `all` would not hold.",
  ].filter((note) => typeof note === "string");
}

/** All clients, then each class of RTT, then the largest countries and networks. */
function slicesOf(
  { everyone, rttClasses, countries, autonomousSystems }: Results,
  names?: NetworkNames,
): readonly NamedSlice[] {
  return [
    ["all", everyone],
    ...rttClasses.map((slice): NamedSlice => [classText(slice), slice]),
    ...countries.slice(0, PLACES_SHOWN).map((slice): NamedSlice => [countryText(slice.country), slice]),
    ...autonomousSystems.slice(0, PLACES_SHOWN).map((slice): NamedSlice => [networkText(slice.asn, names), slice]),
  ];
}

function timesTable(
  slices: readonly NamedSlice[],
  outcome: "load" | "lcp",
  grounds: Results["grounds"],
  columns: number,
): string {
  return table(
    ["whose", "clients", "mean, ms", "p75, ms", "p99, ms", "saved, %", "claim"],
    slices.map(([name, slice]) => {
      const time = (of: "meanMs" | "p75Ms" | "p99Ms"): string | undefined =>
        both(
          slice,
          (arm) => arm[outcome]?.[of],
          (value) => count(Math.round(value)),
        );
      return [
        name,
        both(slice, (arm) => arm[outcome]?.clients, count),
        time("meanMs"),
        time("p75Ms"),
        time("p99Ms"),
        savedRange(slice, outcome),
        claimText(slice, outcome, grounds),
      ];
    }),
    columns,
  );
}

function pagesTable(slices: readonly NamedSlice[], columns: number): string {
  return table(
    ["whose", "clients", "pages", "not reported, %", "over HTTP/3, %"],
    slices.map(([name, slice]) => [
      name,
      both(slice, ({ clients }) => clients, count),
      both(slice, ({ pages }) => pages, count),
      both(slice, ({ counted: all, reported }) => (all === 0 ? null : 1 - reported / all), inPercent),
      both(slice, ({ overH3 }) => overH3, inPercent),
    ]),
    columns,
  );
}

/** `812 / 870`: of those offered and of the others. */
function both(
  { offered, withheld }: Slice,
  figure: (arm: Slice["offered"]) => number | null | undefined,
  text: (value: number) => string,
): string | undefined {
  const texts = [offered, withheld].map((arm) => {
    const value = figure(arm) ?? undefined;
    return value === undefined ? "-" : text(value);
  });
  return texts.every((one) => one === "-") ? undefined : texts.join(" / ");
}

/** What is of all clients alone. */
function besides({ everyone, staying, grounds, countriesLeftOut, autonomousSystemsLeftOut }: Results) {
  const { primary } = everyone;
  const share = (gain: number, sign: 1 | -1): string => inPercent(sign * (Math.exp(sign * gain) - 1));
  return {
    "all pages":
      primary === null
        ? undefined
        : `${share(primary.low, -1)} to ${share(primary.high, -1)} % saved, if pages without a report count as slow`,
    "pages per client":
      staying === null ? undefined : `${share(staying.low, 1)} to ${share(staying.high, 1)} % more if offered HTTP/3`,
    "the draw":
      grounds.offeredShare === null
        ? undefined
        : `${inPercent(grounds.offeredShare)} % of the clients were offered HTTP/3; ${percent(grounds.expectedShare)} were to be`,
    "HTTP/3 elsewhere":
      grounds.http3Elsewhere === null
        ? undefined
        : `${inPercent(grounds.http3Elsewhere)} % of first pages came over HTTP/3, of new clients that were not offered it`,
    "smaller countries": leftOutText(countriesLeftOut),
    "smaller networks": leftOutText(autonomousSystemsLeftOut),
  };
}

function leftOutText(left: number): string | undefined {
  return left === 0 ? undefined : `${count(left)} without 100 clients in each arm`;
}
