import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startDemoOrigin } from "./demo-origin.ts";

let site: Awaited<ReturnType<typeof startDemoOrigin>>;
beforeAll(async () => {
  site = await startDemoOrigin();
});
afterAll(() => site.stop());

const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(site.url + path, init);

describe("the demo site", () => {
  it("serves a page and every file that the page names", async () => {
    const page = await get("/");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("cache-control")).toBe("no-store");
    const parts = [...(await page.text()).matchAll(/(?:src|href)="(\/[^"]*)"/g)].map((match) => match[1] ?? "");
    expect(parts.length).toBeGreaterThan(6);
    for (const part of parts) expect((await get(part)).status, part).toBe(200);
  });

  it("says on the demonstration's home page what it is, and leads to the dashboard", async () => {
    const demo = await startDemoOrigin(0, { hasVisitors: true, dashboardUrl: () => "http://127.0.0.1:1/" });
    const home = await (await fetch(demo.url)).text();
    await demo.stop();
    expect(home).toContain("This is the demonstration of adaptive-h3");
    expect(home).toContain('<a href="http://127.0.0.1:1/">dashboard</a>');
    expect(home).toContain('<link rel="icon" href="data:image/svg+xml,');
    expect(home).toContain("(AS64499)");
  });

  it.each([0, 1, 65_536, 1_000_001])("serves %i bytes, the same each time, cacheable for ever", async (bytes) => {
    const image = await get(`/image/${bytes}`);
    expect(image.headers.get("content-length")).toBe(String(bytes));
    expect(image.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    const body = Buffer.from(await image.arrayBuffer());
    expect(body.length).toBe(bytes);
    expect(body.equals(Buffer.from(await (await get(`/image/${bytes}`)).arrayBuffer()))).toBe(true);
  });

  it.each([1, 65_536, 100_000, 199_999])(
    "serves the rest from byte %i on, to a client that has the beginning",
    async (from) => {
      const whole = Buffer.from(await (await get("/image/200000")).arrayBuffer());
      const rest = await get("/image/200000", { headers: { range: `bytes=${from}-` } });
      expect(rest.status).toBe(206);
      expect(rest.headers.get("content-range")).toBe(`bytes ${from}-199999/200000`);
      expect(Buffer.from(await rest.arrayBuffer()).equals(whole.subarray(from))).toBe(true);
    },
  );

  it.each([
    ["GET", { "if-range": '"image-200000"' }, 206],
    ["GET", { "if-range": '"another"' }, 200],
    ["HEAD", {}, 200],
  ] as const)("answers a range request, %s with %j: %i", async (method, headers, status) => {
    const response = await get("/image/200000", { method, headers: { range: "bytes=5-", ...headers } });
    expect(response.status).toBe(status);
  });

  it.each(["bytes=200000-", "bytes=-5", "bytes=0-10", "lines=1-", ""])(
    "serves the whole file for a range of %j",
    async (range) => {
      const response = await get("/image/200000", { headers: { range } });
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBe(200_000);
    },
  );

  it.each(["/style.css", "/image/100"])("answers 304 for %s if the file has not changed", async (path) => {
    const etag = (await get(path)).headers.get("etag") ?? "";
    expect((await get(path, { headers: { "if-none-match": etag } })).status).toBe(304);
  });

  it.each([
    ["GET", "/nothing", 404],
    ["GET", "/image/2000000000", 404],
    ["GET", "/image/-1", 404],
    ["POST", "/", 405],
    ["HEAD", "/image/500", 200],
  ])("%s %s: %i", async (method, path, status) => {
    expect((await get(path, { method })).status).toBe(status);
  });
});
