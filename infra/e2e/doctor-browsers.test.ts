// Only here: what the doctor says of ports, roots and faults that are over, and what both browsers do.
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { heard } from "../../policy-api/cli/doctor/heard.ts";
import { browserArgs, chromiumProgram, UNWANTED_BROWSER_ARGS } from "../setup/chromium.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { CLIENTS, type DrivenPage, drivenPage, launchBrowser, launchFirefox, navigate, OPENS_MS } from "./browser.ts";
import { doctor } from "./doctor-run.ts";
import { startDoh } from "./doh.ts";
import { forwardTcp, forwardUdp } from "./forward-tcp.ts";
import { fixed, startTestSystem, type TestSystem, testFolder } from "./harness.ts";
import { startZone } from "./zone.ts";

/** The protocols of as many pages, at a reader's pace. */
async function pages(page: DrivenPage, port: number, host: string, count = 4): Promise<string[]> {
  const protocols: string[] = [];
  while (protocols.length < count) {
    protocols.push(await navigate(page, port, "/", host));
    await sleep(OPENS_MS);
  }
  return protocols;
}

/** A site of port 443 in the browser's eyes, without the right to listen there: it maps that port to the edge's. */
async function openOn443(name: "Chromium" | "Firefox", system: TestSystem, host: string): Promise<DrivenPage> {
  const edge = `127.0.0.1:${system.port}`;
  if (name === "Firefox") {
    const browser = await launchFirefox(system, testFolder(), { "network.socket.forcePort": `443=${system.port}` });
    return drivenPage(await browser.newPage());
  }
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
  const elsewhere = { [`${host}:443`]: edge, [host]: "127.0.0.1" };
  const browser = await chromium.launch({
    executablePath,
    args: browserArgs({ host, spkiSha256: system.spkiSha256, elsewhere }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
  });
  onTestFinished(() => browser.close());
  return browser.newPage();
}

it.each(["Chromium", "Firefox"] as const)(
  "reads the port of an offer as %s does",
  { timeout: 120_000 },
  async (name) => {
    const host = "low.h3.test";
    const demo = await startDemoOrigin();
    onTestFinished(demo.stop);
    const zone = await startZone({});
    const system = await startTestSystem({
      origin: demo.url,
      variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200" },
      edgeFlags: ["-upstream", `unix:${zone.socket}`],
    });
    zone.leadsTo(system.workerd, demo.url);
    for (const [from, to] of [
      [443, system.port],
      // Firefox maps the port of its TCP alone.
      ...(name === "Chromium" ? ([[443, 443]] as const) : []),
      [system.port, system.port],
    ] as const) {
      const value = `h3=":${to}"; ma=3600`;
      const headers = { "alt-svc": { operation: "set", value } };
      const rules = [{ expression: 'http.request.version ne ""', action_parameters: { headers } }];
      zone.treats(host, { rules: JSON.stringify({ rules }) });
      const said = heard([value], from, name) === "offer";
      const followed = (await pages(await openOn443(name, system, host), from, host)).includes("h3");
      expect([from, to, followed]).toEqual([from, to, said]);
      expect(said).toBe(name === "Firefox" || from === to);
    }
  },
);

it.each(["Chromium", "Firefox"] as const)(
  "says of a root of one's own what %s does where nobody set it otherwise",
  { timeout: 120_000 },
  async (name) => {
    const system = await startTestSystem({ variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200" } });
    await system.putPolicy(fixed("fixed-h3", 3600));
    const { report } = await doctor(system, await startDoh([]));
    expect(report.rows).toContainEqual({
      tried: "root of the certificate",
      came: expect.stringMatching(/^issued by /) as string,
      means: "browsers take no HTTP/3 with it, unless they are set to",
    });
    const opened = async (isSet: boolean): Promise<DrivenPage> => {
      if (name === "Chromium") return (await launchBrowser(system.spkiSha256, [], isSet ? [1] : [])).newPage();
      const preferences = { "network.http.http3.disable_when_third_party_roots_found": !isSet };
      return drivenPage(await (await launchFirefox(system, testFolder(), preferences)).newPage());
    };
    expect(await pages(await opened(false), system.port, "h3.test")).toEqual(["h2", "h2", "h2", "h2"]);
    expect(await pages(await opened(true), system.port, "h3.test")).toContain("h3");
  },
);

it.each(["Chromium", "Firefox"] as const)(
  "says that Chromium alone rests after a fault, in %s",
  { timeout: 120_000 },
  async (name) => {
    const system = await startTestSystem({ variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200" } });
    await system.putPolicy(fixed("fixed-h3", 3600));
    const port = await forwardTcp(() => system.port);
    const resolver = await startDoh([]);
    expect((await doctor({ ...system, port }, resolver)).report.next.join(" ")).toContain(
      "rests before it tries again",
    );
    const host = "forward.h3.test";
    const open = await CLIENTS[name](system, [host]);
    const { page: met } = await open();
    expect(await pages(met, port, host)).toEqual(["h2", "h2", "h2", "h2"]);
    await forwardUdp(port, system.port);
    expect((await doctor({ ...system, port }, resolver)).report.works).toBe(true);
    expect((await pages(met, port, host, 12)).includes("h3")).toBe(name === "Firefox");
    const { page: unmet } = await open();
    expect(await pages(unmet, port, host)).toContain("h3");
  },
);
