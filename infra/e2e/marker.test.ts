import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { markerRules } from "../../policy-api/decision/compiled/cloudflare.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { launchBrowser, loadImage, navigate, untilH3 } from "./browser.ts";
import { fixed, probe, startTestSystem, type TestSystem } from "./harness.ts";
import { startZone, type ZoneBehaviour } from "./zone.ts";

// A worker that answers by a marker, in a zone that offers HTTP/3 by itself for a day, on images too. A browser judges.

/** Long enough for a browser to open HTTP/3 after an offer, which it does in the background. */
const OPENS_MS = 500;
const OFFERS_ITSELF = { ownOffer: "replace", unrouted: /^\/image\// } as const satisfies ZoneBehaviour;

async function startIn(behaviour: ZoneBehaviour): Promise<TestSystem> {
  const demo = await startDemoOrigin();
  onTestFinished(demo.stop);
  const zone = await startZone(behaviour);
  const system = await startTestSystem({
    origin: demo.url,
    variables: { ACTUATOR: "marker", LOG_DECISIONS: "on", OBJECTS_PER_REGION: "1", BUDGET_MS: "200" },
    edgeFlags: ["-upstream", `unix:${zone.socket}`],
  });
  zone.leadsTo(system.workerd, demo.url);
  return system;
}

/** Opens a page and an image of it. Returns the protocol of the page. */
async function visit(page: Page, { port }: TestSystem): Promise<string> {
  const protocol = await navigate(page, port);
  await loadImage(page, 1000);
  await sleep(OPENS_MS);
  return protocol;
}

it.each<[string, ZoneBehaviour]>([
  ["offers HTTP/3 in the place of", OFFERS_ITSELF],
  ["offers HTTP/3 beside", { ...OFFERS_ITSELF, ownOffer: "append" }],
  ["takes away", { ...OFFERS_ITSELF, ownOffer: "none", strips: true }],
])("follows the worker, on and off HTTP/3, in a zone that %s any Alt-Svc before its rules", async (_how, behaviour) => {
  const system = await startIn({ ...behaviour, rules: markerRules() });
  const page = await (await launchBrowser(system.spkiSha256)).newPage();

  await system.putPolicy(fixed("fixed-h2"));
  for (let i = 0; i < 3; i++) expect(await visit(page, system), `withheld, page ${i}`).toBe("h2");

  await system.putPolicy(fixed("fixed-h3"));
  expect(await visit(page, system)).toBe("h2");
  await untilH3(page);
  expect(await visit(page, system), "the page after the offer").toBe("h3");

  await system.putPolicy(fixed("fixed-h2"));
  await visit(page, system);
  for (let i = 0; i < 3; i++) expect(await visit(page, system), `taken back, page ${i}`).toBe("h2");
});

it("shows visitors no marker, and the worker's value as Alt-Svc, on pages alone", async () => {
  const system = await startIn({ ...OFFERS_ITSELF, rules: markerRules() });
  await system.putPolicy(fixed("fixed-h3"));
  const origin = `https://localhost:${system.port}`;
  const [page, image] = await probe(
    system,
    "h2",
    [`${origin}/`, `${origin}/image/1000`],
    ["-header", "Accept: text/html"],
  );
  expect(page?.headers["Alt-Svc"]).toEqual([`h3=":${system.port}"; ma=60`]);
  for (const load of [page, image]) expect(load?.headers).not.toHaveProperty("H3-Advice");
  expect(image?.headers).not.toHaveProperty("Alt-Svc");
});

it.each<[string, ZoneBehaviour]>([
  ["has no rules", OFFERS_ITSELF],
  ["offers after the rules", { ...OFFERS_ITSELF, ownOfferComes: "after-rules", rules: markerRules() }],
])("cannot withhold HTTP/3 in a zone that offers it itself and %s", async (_how, behaviour) => {
  const system = await startIn(behaviour);
  const page = await (await launchBrowser(system.spkiSha256)).newPage();
  await system.putPolicy(fixed("fixed-h2"));
  await visit(page, system);
  await untilH3(page);
  expect(await visit(page, system)).toBe("h3");
});
