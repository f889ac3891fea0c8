import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { markerRules } from "../../policy-api/decision/compiled/cloudflare.ts";
import { meaningOfTcp } from "../../policy-api/cli/doctor/congestion.ts";
import { meaningOfBuffers } from "../../policy-api/cli/doctor/udp-buffers.ts";
import type { Actuator } from "../../policy-api/decision/alt-svc.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import {
  CLIENTS,
  type DrivenPage,
  launchBrowser,
  loadImage,
  navigate,
  type OpenClient,
  OPENS_MS,
  openWithDns,
  RESTS_MS,
  untilH3,
} from "./browser.ts";
import { doctor, type Does } from "./doctor-run.ts";
import { addressRecord, type DnsAnswer, httpsRecord, startDoh } from "./doh.ts";
import { forwardTcp } from "./forward-tcp.ts";
import { fixed, probe, startTestSystem, type TestSystem, TOKEN } from "./harness.ts";
import { startZone, type Zone, type ZoneBehaviour } from "./zone.ts";

// Only here: every way in which a zone may treat Alt-Svc: what the doctor predicts, and what a browser does.

type InZone = TestSystem & { readonly zone: Zone };

const RULES = markerRules();
const AFTER = { ownOfferComes: "after-rules" } as const satisfies ZoneBehaviour;
/** Every way to make an offer of its own, but for those that come to the same. */
const OWN: readonly ZoneBehaviour[] = (["replace", "append"] as const).flatMap((ownOffer) =>
  (["all", "unrouted", "errors", "worker"] as const).map((ownOfferOn) => ({ ownOffer, ownOfferOn })),
);
const WITHOUT_RULES: readonly ZoneBehaviour[] = [{}, { strips: true }, ...OWN];
const WITH_RULES: readonly ZoneBehaviour[] = [...WITHOUT_RULES, ...OWN.map((own) => ({ ...own, ...AFTER }))].map(
  (own) => ({ ...own, rules: RULES }),
);
/** `npm test` has three zones of the other way of answering, and of those that append only the ones that do so everywhere. */
const isLong = process.env["DOCTOR_ZONES"] === "all";
const isBrief = ({ ownOffer, ownOfferOn }: ZoneBehaviour): boolean => ownOffer !== "append" || ownOfferOn === "all";
const COMBINATIONS: Readonly<Record<Actuator, readonly ZoneBehaviour[]>> = {
  header: chosenOf(WITHOUT_RULES, WITH_RULES),
  marker: chosenOf(WITH_RULES, WITHOUT_RULES),
};
function chosenOf(own: readonly ZoneBehaviour[], others: readonly ZoneBehaviour[]): readonly ZoneBehaviour[] {
  const chosen = isLong ? [...own, ...others] : [...own.filter(isBrief), ...others.slice(0, 3)];
  // All of the demo page's files but the style sheet.
  return chosen.map((behaviour) => ({ ...behaviour, unrouted: /^\/(image|dot)\// }));
}

/** Pages after which a browser has done what it will; on a busy machine HTTP/3 may take longer to open. */
const PAGES = 3;
const PATIENT_PAGES = 5;
/** Clients of whom one gets HTTP/3 where it is offered to all. */
const CLIENTS_TRIED = 3;
/** Pages that are open at the same time. */
const AT_ONCE = 8;

async function startIn(actuator: Actuator): Promise<InZone> {
  const demo = await startDemoOrigin();
  onTestFinished(demo.stop);
  const zone = await startZone({});
  const system = await startTestSystem({
    origin: demo.url,
    variables: { ACTUATOR: actuator, OBJECTS_PER_REGION: "1", BUDGET_MS: "200" },
    // Cloudflare's edge asks nobody to leave, and has no handshake wait.
    edgeFlags: `-upstream unix:${zone.socket} -config stays-on-clear=true -config rehearsal=false`.split(" "),
  });
  zone.leadsTo(system.workerd, demo.url);
  return { ...system, zone };
}

/** Opens pages of a host, each with an image and an error, and returns their protocols. */
async function visit(page: DrivenPage, port: number, host: string, pages = PAGES): Promise<string[]> {
  const protocols: string[] = [];
  while (protocols.length < pages) {
    protocols.push(await navigate(page, port, "/", host));
    await loadImage(page, 1000);
    await page.evaluate(async () => (await fetch("/nothing-here", { cache: "no-store" })).text());
    await sleep(OPENS_MS);
  }
  return protocols;
}

/** Whether some page of a visit comes over HTTP/3, which then is its last one. */
async function reachesH3(page: DrivenPage, port: number, host: string): Promise<boolean> {
  for (let i = 0; i < PATIENT_PAGES; i++) if ((await visit(page, port, host, 1)).includes("h3")) return true;
  return false;
}

/**
 * Opens a client that has HTTP/3. Only a page's own answer can offer it, and a worker that is late says nothing; and a Chromium whose
 * handshake nobody answered for 4 s, on a machine that stood still, tries again after five minutes. Then another client comes.
 */
async function openOverH3(open: OpenClient, port: number, host: string): ReturnType<OpenClient> {
  for (let left = CLIENTS_TRIED; ; left--) {
    const client = await open();
    await visit(client.page, port, host, 1);
    try {
      await untilH3(client.page);
      return client;
    } catch (error) {
      await client.close();
      if (left === 1) throw error;
    }
  }
}

/** A few at a time, as each takes a core. */
async function inTurns<T>(count: number, work: (i: number) => Promise<T>, atOnce = AT_ONCE): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let i = next++; i < count; i = next++) results[i] = await work(i);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

type Seen = Readonly<Record<"offers" | "withholds" | "takesBack", readonly boolean[]>>;

/** What a browser did in each zone. */
function doesOf({ offers, withholds, takesBack }: Seen): Does[] {
  return offers.map((_, i) => {
    const [offer, withhold, back] = [offers[i] ?? null, withholds[i] ?? null, takesBack[i] ?? null];
    const works = [offer, withhold, back].every((is) => is === true);
    return { offers: offer, withholds: withhold, takesBack: back, works };
  });
}

/** With the zones, so that a failure names them. */
function told(zones: readonly ZoneBehaviour[], does: readonly Does[]): object[] {
  return zones.map((zone, i) => ({ ...zone, ...does[i] }));
}

it.each([
  ["header", "Chromium"],
  ["marker", "Chromium"],
  ["header", "Firefox"],
  ...(isLong ? ([["marker", "Firefox"]] as const) : []),
] as const)(
  "predicts, for a worker that answers by the %s, what %s does in every zone",
  { timeout: 400_000 },
  async (actuator, name) => {
    const system = await startIn(actuator);
    const { zone, port } = system;
    const passing: ZoneBehaviour = actuator === "marker" ? { rules: RULES } : {};
    const resolver = await startDoh([]);
    const predicted: Does[] = [];
    const combinations = COMBINATIONS[actuator];
    for (const behaviour of combinations) {
      zone.treats("localhost", behaviour);
      const { report } = await doctor(system, resolver);
      predicted.push((name === "Firefox" ? report.inFirefox : report.ways)[actuator]);
    }

    const hosts = combinations.map((_, i) => `zone-${i}.h3.test`);
    const open = await CLIENTS[name](system, hosts);
    const treatAll = (pass: boolean): void =>
      hosts.forEach((host, i) => zone.treats(host, pass ? passing : (combinations[i] ?? {})));

    await system.putPolicy(fixed("fixed-h2"));
    treatAll(false);
    const withholds = await inTurns(hosts.length, async (i) => {
      const { page, close } = await open();
      const isOverH3 = await reachesH3(page, port, hosts[i] ?? "");
      await close();
      return !isOverH3;
    });

    // Long enough for no offer to end by itself here.
    await system.putPolicy(fixed("fixed-h3", 3600));
    const offers = await inTurns(hosts.length, async (i) => {
      const { page, close } = await open();
      const isOverH3 = await reachesH3(page, port, hosts[i] ?? "");
      await close();
      return isOverH3;
    });

    treatAll(true);
    const offered = await inTurns(hosts.length, async (i) => openOverH3(open, port, hosts[i] ?? ""));
    await system.putPolicy(fixed("fixed-h2"));
    treatAll(false);
    const takesBack = await inTurns(hosts.length, async (i) => {
      const client = offered[i];
      if (client === undefined) throw new Error("no page");
      const protocols = await visit(client.page, port, hosts[i] ?? "");
      await client.close();
      return protocols.at(-1) === "h2";
    });

    const seen = doesOf({ offers, withholds, takesBack });
    expect(told(combinations, predicted)).toEqual(told(combinations, seen));
    // A prediction that is always the same would be no prediction.
    for (const what of ["offers", "withholds", "takesBack", "works"] as const)
      expect(new Set(seen.map((does) => does[what])), what).toEqual(new Set([true, false]));
  },
);

it.each<["Chromium" | "Firefox", string, readonly DnsAnswer[]]>([
  ["Chromium", "offers HTTP/2", [httpsRecord("h2")]],
  ["Chromium", "offers HTTP/3", [httpsRecord("h3", "h2")]],
  ["Firefox", "offers HTTP/3", [httpsRecord("h3", "h2")]],
])("predicts what %s does where an HTTPS record %s", { timeout: 240_000 }, async (name, _what, records) => {
  const system = await startIn("header");
  const { zone, port, stateDir } = system;
  const behaviours: readonly ZoneBehaviour[] = [{}, { strips: true }, { ownOffer: "replace" }, { ownOffer: "append" }];
  const resolver = await startDoh(records);
  const predicted: Does[] = [];
  for (const behaviour of behaviours) {
    zone.treats("localhost", behaviour);
    const { report } = await doctor(system, resolver);
    predicted.push((name === "Firefox" ? report.inFirefox : report.ways).header);
  }

  // What a browser remembers it has by host: so each question has a host of its own.
  const hostOf = (i: number, asked: keyof Does): string => `${asked.toLowerCase()}-${i}.h3.test`;
  const hosts = behaviours.flatMap((_, i) => (["offers", "withholds", "takesBack"] as const).map((k) => hostOf(i, k)));
  behaviours.forEach((behaviour, i) => {
    for (const asked of ["offers", "withholds"] as const) zone.treats(hostOf(i, asked), behaviour);
  });
  const read = (file: string): string => readFileSync(join(stateDir, file), "utf8");
  const tls = { key: read("dev-key.pem"), cert: read("dev-cert.pem") };
  const overTls = await startDoh([addressRecord("127.0.0.1"), ...records], { tls });
  const open = await openWithDns(name, system, hosts, overTls);
  const eachIn = async (
    asked: keyof Does,
    see: (page: DrivenPage, host: string) => Promise<boolean>,
  ): Promise<boolean[]> =>
    inTurns(
      behaviours.length,
      async (i) => {
        const { page, close } = await open();
        const seen = await see(page, hostOf(i, asked));
        await close();
        return seen;
      },
      // Where the machine is busy, QUIC's handshake comes too late for a Firefox, which then rests from HTTP/3.
      name === "Firefox" ? 1 : AT_ONCE,
    );

  await system.putPolicy(fixed("fixed-h2"));
  const withholds = await eachIn("withholds", async (page, host) => !(await reachesH3(page, port, host)));
  await system.putPolicy(fixed("fixed-h3", 3600));
  const offers = await eachIn("offers", (page, host) => reachesH3(page, port, host));
  // All zones pass these offers on, and do to the answers that come after them what they do.
  await eachIn("takesBack", (page, host) => reachesH3(page, port, host));
  await system.putPolicy(fixed("fixed-h2"));
  behaviours.forEach((behaviour, i) => zone.treats(hostOf(i, "takesBack"), behaviour));
  if (name === "Firefox") {
    // It is told so on the connection that it has, and goes back when that has rested.
    await eachIn("takesBack", async (page, host) => (await visit(page, port, host, 1)).includes("h3"));
    await sleep(RESTS_MS);
  }
  const takesBack = await eachIn("takesBack", async (page, host) => (await visit(page, port, host)).at(-1) === "h2");

  expect(told(behaviours, predicted)).toEqual(told(behaviours, doesOf({ offers, withholds, takesBack })));
});

it("shows visitors no marker, and the worker's value as Alt-Svc, on pages alone", async () => {
  const system = await startIn("marker");
  system.zone.treats("localhost", { ownOffer: "replace", unrouted: /^\/image\//, rules: RULES });
  await system.putPolicy(fixed("fixed-h3"));
  const urls = ["", "image/1000"].map((path) => `https://localhost:${system.port}/${path}`);
  const [page, image] = await probe(system, "h2", urls, ["-header", "Accept: text/html"]);
  expect(page?.headers["Alt-Svc"]).toEqual([`h3=":${system.port}"; ma=60`]);
  for (const load of [page, image]) expect(load?.headers).not.toHaveProperty("H3-Advice");
  expect(image?.headers).not.toHaveProperty("Alt-Svc");
});

it("says what to do next, and ends by what it found", async () => {
  const system = await startIn("header");
  const [none, h3] = [await startDoh([]), await startDoh([httpsRecord("h3", "h2")])];
  const fine = await doctor(system, none);
  expect(fine).toMatchObject({
    code: 0,
    report: { works: true, next: [expect.stringMatching(/^Nothing is to be done here\./)] },
  });
  expect(fine.report.rows).toContainEqual({
    tried: "congestion control of TCP",
    came: system.congestion[0],
    means: meaningOfTcp(system.congestion[0] ?? ""),
  });
  const udp = fine.report.rows.find(({ tried }) => tried === "UDP buffers of the edge");
  const [, receive = 0, send = 0] = (/^(\d+) KiB to receive, (\d+) KiB to send$/.exec(udp?.came ?? "") ?? []).map(
    Number,
  );
  const bytes = { receiveBytes: 1024 * receive, sendBytes: 1024 * send, wantedBytes: 7 << 20 };
  expect(udp?.means).toBe(meaningOfBuffers(bytes));

  system.zone.treats("localhost", { ownOffer: "replace" });
  const replaced = await doctor(system, none);
  expect(replaced).toMatchObject({ code: 1, report: { works: false } });
  expect(replaced.report.next.join(" ")).toContain("marker-rule");
  system.zone.treats("localhost", { ownOffer: "replace", rules: RULES });
  expect((await doctor(system, none)).report.next.join(" ")).toContain('Set ACTUATOR = "marker"');

  system.zone.treats("localhost", {});
  const recorded = await doctor(system, h3);
  expect(recorded).toMatchObject({ code: 1, report: { ways: { header: { withholds: false, takesBack: false } } } });
  expect(recorded.report.next.join(" ")).toContain("DNS record");

  const unasked = await doctor(system, "http://127.0.0.1:9/dns-query");
  expect(unasked).toMatchObject({ code: 6, report: { works: null, ways: { header: { withholds: null } } } });
});

it("says that no browser can follow an offer where there is no QUIC, and none does", async () => {
  const system = await startIn("header");
  const port = await forwardTcp(() => system.port);
  const { code, report } = await doctor({ ...system, port }, await startDoh([]));
  expect({ code, does: report.ways.header }).toEqual({
    code: 1,
    does: { offers: false, withholds: true, takesBack: true, works: false },
  });
  expect(report.next.join(" ")).toContain("QUIC");
  await system.putPolicy(fixed("fixed-h3"));
  const page = await (await launchBrowser(system.spkiSha256, ["forward.test"])).newPage();
  expect(await visit(page, port, "forward.test")).toEqual(["h2", "h2", "h2"]);
});

it("names what is missing, and reads a URL as other commands do", async () => {
  const system = await startIn("header");
  const resolver = await startDoh([]);
  const asked = async (args: readonly string[], token = TOKEN): Promise<string> =>
    new Promise((resolve) => {
      const { stateDir } = system;
      const env = { ...process.env, STATE_DIR: stateDir, H3_TOKEN: token, H3_CA: join(stateDir, "dev-cert.pem") };
      const all = [join(ROOT, "policy-api/cli/main.ts"), "doctor", "--resolver", resolver, ...args];
      execFile(process.execPath, all, { env, cwd: ROOT }, (error, stdout, stderr) =>
        resolve(`${Number(error?.code ?? 0)} ${stdout}${stderr}`),
      );
    });
  const url = `https://localhost:${system.port}`;
  expect(await asked([url])).toMatch(/^0 What came from https:[^]*\nNothing is to be done here\.[^\n]*\n$/);
  expect(await asked([url, "--url", url])).toMatch(/^2 The URL is there twice/);
  expect(await asked([url], "wrong")).toMatch(/^3 .* does not know this token/);
  expect(await asked([`${url}/page`])).toMatch(/^2 The server's address must be without a path/);
  expect(await asked(["https://localhost:1"])).toMatch(/^5 .* cannot be reached/);
});
