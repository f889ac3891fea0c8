import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { BROWSER_PAGES, browserBytes, type BrowserPage, browserPath } from "../model/browser-pages.ts";
import { serveBrowserSite } from "./browser-site.ts";

const server = createServer((request, response) => {
  if (!serveBrowserSite(request, response)) response.writeHead(418).end();
});
let url: string;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());

it.each([
  ["page", 15, 1.9e6],
  ["document", 1, 20_000],
  ["small", 11, 640_000],
  ["large", 31, 5.72e6],
  ["images", 7, 21.7e6],
] as const)("%s has %d requests and %d bytes, as many as it says", async (page: BrowserPage, requests, bytes) => {
  const document = await (await fetch(`${url}${browserPath(page)}?1`)).text();
  const assets = [...document.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? "");
  expect(new Set(assets).size).toBe(requests - 1);
  let total = document.length;
  for (const path of assets) {
    const response = await fetch(`${url}${path}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    total += (await response.arrayBuffer()).byteLength;
  }
  expect(total).toBe(browserBytes(page));
  expect(Math.abs(total / bytes - 1)).toBeLessThan(0.01);
  expect(BROWSER_PAGES[page]).toHaveLength(requests - 1);
});

it.each([
  ["h3", `h3=":8443"; ma=86400`],
  ["clear", "clear"],
  ["none", null],
])("a page whose URL asks for %s says so by Alt-Svc; its files say nothing", async (offer, altSvc) => {
  const ask = async (path: string): Promise<string | null> => {
    const answered = Promise.withResolvers<string | null>();
    // fetch does not let a caller choose the Host.
    get(`${url}${path}?offer=${offer}&page=1`, { headers: { host: "h3.test:8443" } }, (response) => {
      response.resume();
      answered.resolve(response.headers["alt-svc"] ?? null);
    });
    return answered.promise;
  };
  expect(await ask(browserPath("page"))).toBe(altSvc);
  expect(await ask("/browser/css/1000/0")).toBe(null);
});

it("answers nothing else", async () => {
  expect((await fetch(`${url}/`)).status).toBe(418);
  for (const path of ["", "none", "toString", "png/1", "png/1/x", "exe/1/1"])
    expect((await fetch(`${url}/browser/${path}`)).status).toBe(404);
});
