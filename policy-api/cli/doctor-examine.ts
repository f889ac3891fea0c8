import { API_PATH } from "../api/contract/access.ts";
import { getHealth, getProbe, type Health, type Probe } from "../api/contract/deployment.ts";
import { isReplyOf } from "../api/contract/api.ts";
import { type Actuator, ACTUATORS, MARKER_HEADER } from "../decision/alt-svc.ts";
import { advise } from "./doctor/advise.ts";
import { arrived, type Browser, type Heard, heard, refusedPort } from "./doctor/heard.ts";
import { type AnswerKind, ANSWERS, predict, type Prediction, type Site } from "./doctor/predict.ts";
import { noToken, parseJson, refusal } from "./client.ts";
import type { Call, Result } from "./command.ts";
import type { Io } from "./io.ts";
import { lookAtAssets } from "./doctor-assets.ts";
import { lookAtCertificate } from "./doctor-certificate.ts";
import { filesOf, type Looking, meaning, type Row, seeFile, type Seen, seePage } from "./doctor-look.ts";
import { hasRtt, isLate, senderRows, workerRows } from "./doctor-own-rows.ts";
import { tryQuic } from "./doctor-quic.ts";
import { askRecords } from "./doctor-records.ts";
import { lookAtZone, type ZoneSeen } from "./doctor-zone.ts";
import { type Endpoint, LOCAL_HOSTS } from "./endpoint.ts";
import { EXIT } from "./failure.ts";
import { table } from "./table.ts";
import { readServiceUrl } from "./options.ts";

/** What the worker answered to a probe, and what of it came. */
interface Probed {
  readonly actuator: Actuator;
  readonly answer: AnswerKind;
  readonly probe: Probe;
  readonly seen: Seen;
}

/** A path that no site has. */
const NOWHERE = "/adaptive-h3-doctor-looks-for-an-error";

/**
 * Looks at a site from outside. It changes nothing.
 *
 * @param path Of a page.
 * @param resolver A server of DNS over HTTPS, if one was given.
 * @throws Failure where there is no worker to ask
 */
export async function examine(
  looking: Looking,
  endpoint: Endpoint,
  { io, columns }: Call,
  path: string,
  resolver: string | undefined,
): Promise<Result> {
  const { origin, caFile } = endpoint;
  const site = new URL(origin);
  const port = Number(site.port) || 443;
  const probed = await probeAll(looking, endpoint);
  const health = healthOf(looking);
  const pages = await seePage(looking, path, origin);
  const page = pages.at(-1);
  const pageUrl = new URL(page?.path ?? path, origin);
  const paths = page !== undefined && page.status < 300 ? filesOf(page.body, pageUrl) : [];
  const files = await Promise.all(paths.map(async (file) => seeFile(looking, file)));
  const error = await seeFile(looking, NOWHERE);
  const named = probed[0]?.probe.assets ?? undefined;
  const [records, certificate, quic, zone, assets] = await Promise.all([
    askRecords(site, resolver),
    lookAtCertificate(site),
    tryQuic(site, io.projectFolder, caFile, async () => (await health)?.http3),
    zoneOf(pageUrl, paths, io),
    named === undefined ? { rows: [], host: undefined } : lookAtAssets(named, looking, endpoint, page, resolver),
  ]);
  // A name of this machine is for its owner, whose browser may be set otherwise.
  const ownRoot = certificate.isPublic === false && !LOCAL_HOSTS.has(site.hostname);
  const othersFor = (browser: Browser) => ({
    // What a browser is led through on its way to a page counts as a file of it does.
    files: together([...pages.slice(0, -1), ...files], port, files.length > 0, browser),
    errors: together([error], port, true, browser),
    record: records.offersH3,
    quic: ownRoot ? false : quic.works,
  });
  const predicted = (browser: Browser): Readonly<Record<Actuator, Prediction>> => {
    const by = (actuator: Actuator): Prediction =>
      predict({ pages: heardBy(actuator, probed, port, browser), ...othersFor(browser) }, browser);
    return { header: by("header"), marker: by("marker") };
  };
  const [ways, inFirefox] = [predicted("Chromium"), predicted("Firefox")];
  const others = othersFor("Chromium");
  const probes = probed.map(({ probe }) => probe);
  const current = probes[0]?.actuator ?? "header";
  const { works } = ways[current];
  const { host } = assets;
  const refused = [...probed.map(({ seen }) => seen), ...pages, ...files, error]
    .map((one) => one && refusedPort(one.altSvc, port))
    .find((one) => one !== undefined);
  const next = advise({
    host: site.hostname,
    current,
    ways,
    markerArrives: probed.some(({ seen }) => seen.headers[MARKER_HEADER] !== undefined),
    othersOffer: others.files === "offer" || others.errors === "offer",
    record: records.offersH3,
    quic: quic.works,
    ownRoot,
    refusedPort: refused,
    routed: zone.routed,
    hasRtt: probes.some(hasRtt),
    isLate: 2 * probes.filter(isLate).length > probes.length,
    assets: host,
  });
  const rows: readonly Row[] = [
    ...probed.map(probedRow),
    ...pages.map(pageRow),
    ...(page === undefined ? [] : [lossesRow(page)]),
    ...(files.length === 0 ? [{ tried: "files of the page", came: "none named", means: "unknown" }] : []),
    ...files.map((seen, i) => otherRow(paths[i] ?? "", seen, port)),
    otherRow("an address without a page", error, port),
    ...(refused === undefined
      ? []
      : [
          {
            tried: "ports of the offers",
            came: `${refused}, from ${port}`,
            means: "Chromium does not go there, Firefox does",
          },
        ]),
    {
      tried: "HTTPS record of DNS",
      came: records.why,
      means: meaning(records.offersH3, "offers HTTP/3", "offers nothing"),
    },
    {
      tried: "root of the certificate",
      came: certificate.why,
      means: meaning(
        certificate.isPublic,
        "browsers bring it with them",
        "browsers take no HTTP/3 with it, unless they are set to",
      ),
    },
    { tried: "QUIC connection", came: quic.why, means: meaning(quic.works, "works", "does not work") },
    ...assets.rows,
    ...workerRows(probes),
    ...senderRows(await health),
    ...zone.rows,
  ];
  // Then a browser would not get what pages name there, or get it over HTTP/3.
  const isBroken = host?.isSame === false || host?.offers === true || host?.isKept === true;
  return {
    json: { origin, actuator: current, works, ways, inFirefox, rows, next },
    text: [
      `What came from ${origin}:`,
      "",
      table(
        ["tried", "came", "means"],
        rows.map(({ tried, came, means }) => [tried, came, means]),
        columns,
      ),
      "",
      `What a browser does there${certificate.isPublic === false ? ", once it is set to take the certificate" : ""}, by the way in which the worker answers:`,
      "",
      table(
        ["way", "browser", "follows an offer", "stays without one", "goes back when told", "works"],
        ACTUATORS.flatMap((way) => {
          const name = `${way} (${way === current ? "" : "not "}in force)`;
          const [chromium, firefox] = [shownPrediction(ways[way]), shownPrediction(inFirefox[way])];
          return chromium.join() === firefox.join()
            ? [[name, "Chromium, Firefox", ...chromium]]
            : [
                [name, "Chromium", ...chromium],
                [name, "Firefox", ...firefox],
              ];
        }),
        columns,
      ),
      "",
      ...next,
    ].join("\n"),
    exitCode: isBroken || works === false ? EXIT.refused : works === null ? EXIT.unknown : EXIT.done,
  };
}

/** Asks for every answer by every way. @throws Failure where the worker is not there, or has no such call */
async function probeAll(looking: Looking, endpoint: Endpoint): Promise<readonly Probed[]> {
  if (endpoint.token === undefined) throw noToken();
  const probed: Probed[] = [];
  for (const actuator of ACTUATORS)
    for (const answer of ANSWERS) {
      const seen = await looking.see(`${API_PATH}/probe?answer=${answer}&actuator=${actuator}`, {
        authorization: `Bearer ${endpoint.token}`,
        accept: "application/json, application/problem+json",
      });
      const body = parseJson(seen.body);
      if (!isReplyOf(getProbe, seen.status, body)) throw refusal(endpoint, seen, body);
      probed.push({ actuator, answer, probe: body as Probe, seen });
    }
  return probed;
}

/** What the site says about itself. Undefined: it cannot be asked. Never throws. */
async function healthOf(looking: Looking): Promise<Health | undefined> {
  try {
    const { status, body } = await looking.see(`${API_PATH}/health`);
    const health = parseJson(body);
    return isReplyOf(getHealth, status, health) ? (health as Health) : undefined;
  } catch {
    return undefined;
  }
}

/** With a token of Cloudflare's API: what it says of the zone. */
async function zoneOf(page: URL, files: readonly string[], { env }: Io): Promise<ZoneSeen> {
  const { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_API_BASE_URL: base } = env;
  if (token === undefined || token === "") return { rows: [], routed: undefined };
  return lookAtZone(page, { token, files, ...(base && { base: readServiceUrl(base, "CLOUDFLARE_API_BASE_URL") }) });
}

function shownPrediction(prediction: Prediction): readonly string[] {
  return (["offers", "withholds", "takesBack", "works"] as const).map((it) => meaning(prediction[it], "yes", "no"));
}

/** What responses say together: an offer of one counts, then what takes offers back. Undefined where none was seen. */
function together(
  seen: readonly (Seen | undefined)[],
  port: number,
  wasAsked: boolean,
  browser: Browser,
): Heard | undefined {
  const said = new Set(seen.map((one) => one && heard(one.altSvc, port, browser)));
  if (said.has("offer")) return "offer";
  if (!wasAsked || said.has(undefined)) return undefined;
  return said.has("over") ? "over" : "nothing";
}

/** What pages say if the worker answers in this way. */
function heardBy(actuator: Actuator, probed: readonly Probed[], port: number, browser: Browser): Site["pages"] {
  const said = (answer: AnswerKind): Heard =>
    heard(probed.find((one) => one.actuator === actuator && one.answer === answer)?.seen.altSvc ?? [], port, browser);
  return { offer: said("offer"), nothing: said("nothing"), clear: said("clear") };
}

function probedRow({ actuator, answer, probe, seen }: Probed): Row {
  const by = actuator === "header" ? "in Alt-Svc" : "by the marker";
  return { tried: `${answer}, ${by}`, came: shown(seen.altSvc), means: arrived(probe.value, seen.altSvc) };
}

function pageRow({ path, status, altSvc }: Seen): Row {
  return {
    tried: `page ${path} (${status})`,
    came: shown(altSvc),
    means: "the answer now, by the worker or by another",
  };
}

/** Pages read what their connection lost from this part of Server-Timing. */
function lossesRow({ headers }: Seen): Row {
  const text = [headers["server-timing"] ?? []].flat().join(", ");
  const desc = /\bcfL4\b[^,]*desc="([^"]*)"/.exec(text)?.[1];
  const read = desc?.match(/\b(?:rtt|sent|lost)=\d+/g)?.join(", ") ?? "another form";
  return {
    tried: "cfL4 of Server-Timing",
    came: desc === undefined ? "nothing" : read,
    means: desc === undefined ? "pages cannot report losses" : "pages can report losses",
  };
}

function otherRow(tried: string, seen: Seen | undefined, port: number): Row {
  if (seen === undefined) return { tried, came: "no response", means: "unknown" };
  const means = {
    offer: "offers HTTP/3, and no worker did",
    over: "takes every offer back",
    nothing: "changes nothing",
  }[heard(seen.altSvc, port)];
  return { tried: `${tried} (${seen.status})`, came: shown(seen.altSvc), means };
}

function shown(altSvc: readonly string[]): string {
  return altSvc.length === 0 ? "nothing" : altSvc.join(", ");
}
