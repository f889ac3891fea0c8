import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { markerRules } from "../decision/compiled/cloudflare.ts";
import { lookAtZone } from "./doctor-zone.ts";

const ZONE = "023e105f4ecef8ad9ca31a8372d0c353";
const FINE: Readonly<Record<string, unknown>> = {
  "/zones?name=www.example.com": [],
  "/zones?name=example.com": [{ id: ZONE, name: "example.com" }],
  [`/zones/${ZONE}/settings/http3`]: { id: "http3", value: "on", editable: true },
  [`/zones/${ZONE}/ssl/universal/settings`]: { enabled: true },
  [`/zones/${ZONE}/workers/routes`]: [
    { id: "1", pattern: "www.example.com/*", script: "adaptive-h3" },
    { id: "2", pattern: "www.example.com/images/*" },
  ],
  [`/zones/${ZONE}/rulesets/phases/http_response_headers_transform/entrypoint`]: JSON.parse(markerRules()) as unknown,
};
const FILES = ["/a.css", "/images/a.png"];

/** A stub of the zone's API. A number in the place of a result is a status. */
async function startApi(results: Readonly<Record<string, unknown>>): Promise<{ base: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ method, url = "", headers }, response) => {
    asked.push(`${method} ${headers.authorization}`);
    const result = results[url.replace("/client/v4", "")];
    const status = typeof result === "number" ? result : result === undefined ? 404 : 200;
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ success: status === 200, errors: [], messages: [], result: result ?? null }));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/v4`, asked };
}

async function rowsOf(results: Readonly<Record<string, unknown>>): Promise<string[]> {
  const { base } = await startApi(results);
  const { rows } = await lookAtZone(new URL("https://www.example.com/"), { token: "secret", base, files: FILES });
  return rows.map(({ tried, came, means }) => `${tried} | ${came} | ${means}`);
}

it("says what a zone is set to, by the token it was given, and only reads", async () => {
  const { base, asked } = await startApi(FINE);
  const { rows, routed } = await lookAtZone(new URL("https://www.example.com/"), {
    token: "secret",
    base: `${base}/`,
    files: FILES,
  });
  expect(routed).toBe(true);
  expect(rows.map(({ tried, came, means }) => `${tried} | ${came} | ${means}`)).toEqual([
    "zone: HTTP/3 | on | browsers can switch; Cloudflare may offer it too",
    "zone: Universal SSL | on | the zone has a certificate",
    "zone: routes | www.example.com/*, www.example.com/images/* | the page goes to a worker, and 1 of 2 files",
    "zone: rules of response headers | 2 rules | one makes Alt-Svc of the marker, wherever it applies",
  ]);
  expect(new Set(asked)).toEqual(new Set(["GET Bearer secret"]));
});

it("says what is missing", async () => {
  const { [`/zones/${ZONE}/rulesets/phases/http_response_headers_transform/entrypoint`]: _rules, ...rest } = FINE;
  expect(
    await rowsOf({
      ...rest,
      [`/zones/${ZONE}/settings/http3`]: { value: "off" },
      [`/zones/${ZONE}/ssl/universal/settings`]: { enabled: false },
      [`/zones/${ZONE}/workers/routes`]: [],
    }),
  ).toEqual([
    "zone: HTTP/3 | off | no browser can switch",
    "zone: Universal SSL | off | HTTP/3 needs another certificate",
    "zone: routes | none | none leads the page to a worker, and 0 of 2 files",
    "zone: rules of response headers | 0 rules | none changes Alt-Svc",
  ]);
});

it("calls unknown what it cannot read", async () => {
  expect(await rowsOf({})).toEqual(["zone | the API answers with status 404 | unknown"]);
  expect(await rowsOf({ "/zones?name=www.example.com": 403 })).toEqual(["zone | the token may not read it | unknown"]);
  expect(await rowsOf({ "/zones?name=www.example.com": [], "/zones?name=example.com": [] })).toEqual([
    "zone | the token sees no zone of www.example.com | unknown",
  ]);
  const some = await rowsOf({
    ...FINE,
    [`/zones/${ZONE}/settings/http3`]: 500,
    [`/zones/${ZONE}/ssl/universal/settings`]: 403,
    [`/zones/${ZONE}/workers/routes`]: 404,
  });
  expect(some.slice(0, 3)).toEqual([
    "zone: HTTP/3 | the API answers with status 500 | unknown",
    "zone: Universal SSL | the token may not read it | unknown",
    "zone: routes | the API answers with status 404 | unknown",
  ]);
  const gone = await lookAtZone(new URL("https://www.example.com/"), {
    token: "t",
    base: "http://127.0.0.1:9",
    files: [],
  });
  expect(gone.routed).toBeUndefined();
  expect(gone.rows[0]?.came).toMatch(/^the API cannot be asked/);
});
