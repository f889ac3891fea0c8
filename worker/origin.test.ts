import { describe, expect, it, vi } from "vitest";
import vectors from "../infra/edge/testdata/origin-requests.json" with { type: "json" };
import { adaptivePolicy } from "../policy-api/decision/testing.ts";
import { Isolate } from "./isolate.ts";
import { CF_H2, FakeStores, mode, navigation, SETTINGS, stubOrigin, visit } from "./testing.ts";

const origin = stubOrigin();

describe("the origin", () => {
  it("gets path, query, method, body and headers, and the visitor's host beside its own", async () => {
    const request = new Request("https://site.test:8443/a%20b?c=d%2F", {
      method: "POST",
      body: "body",
      headers: { "x-own": "2", host: "site.test:8443" },
    });
    await visit(request, new FakeStores(mode("observe")));
    const [got] = origin.fetched;
    expect(got?.url).toBe("http://origin.test/a%20b?c=d%2F");
    expect(got?.method).toBe("POST");
    expect(got?.redirect).toBe("manual");
    expect(await got?.text()).toBe("body");
    expect(got?.headers.get("x-own")).toBe("2");
  });

  it.each(vectors.cases)("gets of $name what our edge sends it while this worker is gone", async (vector) => {
    const settings = { ...SETTINGS, origin: new URL(vectors.origin), edge: "adaptive-h3" } as const;
    const request = new Request(`https://site.test${vector.target}`, { headers: vector.headers as HeadersInit });
    await visit(request, new FakeStores(mode("observe")), new Isolate(settings));
    const [got] = origin.fetched;
    expect(got?.url).toBe(vector.url);
    const expected = Object.entries(vector.expected).map(([name, value]) => [name.toLowerCase(), value]);
    expect(Object.fromEntries(got?.headers ?? [])).toEqual(Object.fromEntries(expected));
  });

  it("learns the host that the visitor used: from our edge, elsewhere from here, whatever the visitor says", async () => {
    for (const [edge, expected] of [
      ["adaptive-h3", "as our edge says"],
      ["cloudflare", "site.test:8443"],
    ] as const) {
      origin.fetched.length = 0;
      const request = navigation(CF_H2, { "x-forwarded-host": "as our edge says" });
      await visit(request, new FakeStores(mode("observe")), new Isolate({ ...SETTINGS, edge }));
      expect(origin.fetched[0]?.headers.get("x-forwarded-host")).toBe(expected);
    }
  });

  it("has no say in Alt-Svc: what it sends speaks of its own ports", async () => {
    origin.answer = async () => new Response("page", { headers: { "alt-svc": 'h3=":443"; ma=86400', "x-own": "1" } });
    for (const request of [
      navigation(),
      new Request("https://site.test/", { headers: { "sec-fetch-dest": "image" } }),
    ]) {
      const { response } = await visit(request, new FakeStores(mode("fixed-h2")));
      expect(response.headers.get("alt-svc")).toBeNull();
      expect(response.headers.get("x-own")).toBe("1");
      expect(await response.text()).toBe("page");
    }
  });

  it("has no say in the marker either, where that is how answers reach browsers", async () => {
    origin.answer = async () => new Response("page", { headers: { "h3-advice": 'h3=":443"; ma=86400' } });
    for (const [actuator, expected] of [
      ["marker", null],
      ["header", 'h3=":443"; ma=86400'],
    ] as const)
      for (const edge of ["adaptive-h3", "cloudflare"] as const) {
        const { origin: _, ...route } = SETTINGS;
        const settings = { ...(edge === "cloudflare" ? route : SETTINGS), edge, actuator };
        const { response } = await visit(navigation(), new FakeStores(mode("observe")), new Isolate(settings));
        expect([edge, response.headers.get("h3-advice")]).toEqual([edge, expected]);
        expect(await response.text()).toBe("page");
      }
  });

  it("keeps its Alt-Svc behind a route, where Cloudflare removes it", async () => {
    origin.answer = async () => new Response("page", { headers: { "alt-svc": 'h3=":443"; ma=86400' } });
    const { origin: _, ...route } = SETTINGS;
    const isolate = new Isolate({ ...route, edge: "cloudflare" });
    const { response } = await visit(navigation(), new FakeStores(mode("observe")), isolate);
    expect(response.headers.get("alt-svc")).toBe('h3=":443"; ma=86400');
  });

  it("is never what the visitor's Host header says: without ORIGIN there is none but on Cloudflare", async () => {
    const { origin: _, ...settings } = SETTINGS;
    for (const edge of ["adaptive-h3", "none"] as const) {
      const { response } = await visit(
        navigation(),
        new FakeStores(mode("observe")),
        new Isolate({ ...settings, edge }),
      );
      expect([response.status, origin.fetched.length]).toEqual([500, 0]);
      expect(await response.text()).toContain("ORIGIN");
      // Our edge has an origin of its own to ask.
      expect(response.headers.get("adaptive-h3-unreached")).toBe(edge === "adaptive-h3" ? "1" : null);
    }
  });

  it.each([
    "http://localhost:8787/",
    "https://localhost:8787/page?a=1",
    "http://127.0.0.1:8787/",
    "http://[::1]:8787/",
    "http://192.168.1.5:8787/",
    "http://workstation:8787/",
    "http://www.localhost:8787/",
    "https://adaptive-h3.alice.workers.dev/",
  ])("without ORIGIN, %s is the worker itself: it says at once what to set, and asks nobody", async (url) => {
    const { origin: _, ...route } = SETTINGS;
    const isolate = new Isolate({ ...route, edge: "cloudflare" });
    const asked = [
      new Request(url, { headers: { "sec-fetch-dest": "document" } }),
      new Request(url, { method: "POST", body: "order" }),
    ];
    for (const request of asked) {
      const { response } = await visit(request, new FakeStores(mode("fixed-h3")), isolate);
      expect([response.status, origin.fetched.length]).toEqual([500, 0]);
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(await response.text()).toMatch(/^500: .*ORIGIN/s);
    }
  });

  it.each(["https://www.example.com/", "https://localhost.example.com/", "https://workers.dev.example.com/"])(
    "without ORIGIN, %s is a route's",
    async (url) => {
      const { origin: _, ...route } = SETTINGS;
      const request = new Request(url, { headers: { "sec-fetch-dest": "document" } });
      await visit(request, new FakeStores(mode("observe")), new Isolate({ ...route, edge: "cloudflare" }));
      expect(origin.fetched.map((got) => got.url)).toEqual([url]);
    },
  );

  it("is where the route leads without ORIGIN", async () => {
    const { origin: _, ...settings } = SETTINGS;
    await visit(navigation(), new FakeStores(mode("observe")), new Isolate({ ...settings, edge: "cloudflare" }));
    expect(origin.fetched[0]?.url).toBe("https://site.test:8443/page?a=1");
  });

  it("an origin that refuses is a 502, as from a plain proxy; our edge is told that it is the worker's", async () => {
    origin.answer = () => Promise.reject(new TypeError("connection refused"));
    for (const [edge, mark] of [
      ["adaptive-h3", "1"],
      ["cloudflare", null],
      ["none", null],
    ] as const) {
      const isolate = new Isolate({ ...SETTINGS, edge });
      const { response } = await visit(navigation(), new FakeStores(adaptivePolicy()), isolate);
      expect([response.status, response.headers.get("adaptive-h3-unreached")]).toEqual([502, mark]);
    }
  });

  it("is lost where it answered nothing for a minute though visitors asked, until it answers", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 0 });
    const isolate = new Isolate(SETTINGS);
    const after = async (seconds: number, isThere: boolean): Promise<boolean> => {
      vi.setSystemTime(seconds * 1000);
      origin.answer = async () => (isThere ? new Response("page") : Promise.reject(new TypeError("no TLS")));
      await visit(new Request("https://site.test/a.png"), new FakeStores(mode("observe")), isolate);
      return isolate.origin.isLost;
    };
    const seen: boolean[] = [];
    for (const [seconds, isThere] of [
      [0, false],
      [59, false],
      [60, true],
      [61, false],
      [120, false],
      [121, false],
      [122, true],
    ] as const)
      seen.push(await after(seconds, isThere));
    expect(seen).toEqual([false, false, false, false, false, true, false]);
    vi.useRealTimers();
  });

  it.each(["GET", "POST"])("an origin that drops a %s is asked once, with or without ORIGIN", async (method) => {
    origin.answer = () => Promise.reject(new TypeError("connection lost"));
    const { origin: _, ...withoutOrigin } = SETTINGS;
    const onRoute = { ...withoutOrigin, edge: "cloudflare" } as const;
    for (const settings of [SETTINGS, onRoute]) {
      origin.fetched.length = 0;
      const request = new Request("https://site.test/", {
        method,
        headers: { accept: "text/html" },
        ...(method === "POST" ? { body: "order" } : {}),
      });
      const { response } = await visit(request, new FakeStores(mode("fixed-h3")), new Isolate(settings));
      expect([response.status, origin.fetched.length]).toEqual([502, 1]);
    }
  });

  it("a body that breaks breaks for the visitor too", async () => {
    origin.answer = async () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.enqueue(new TextEncoder().encode("half"));
            controller.error(new Error("origin died"));
          },
        }),
      );
    const { response } = await visit(navigation(), new FakeStores(mode("fixed-h3")));
    await expect(response.text()).rejects.toThrow("origin died");
  });

  it.each([204, 301, 304, 404, 500])("a status %i stays as it is", async (status) => {
    origin.answer = async () => new Response(null, { status, headers: { location: "/x", "set-cookie": "a=b" } });
    const { response } = await visit(navigation(), new FakeStores(mode("fixed-h3")));
    expect(response.status).toBe(status);
    expect(response.headers.get("set-cookie")).toBe("a=b");
    expect(response.headers.get("alt-svc")).toBe('h3=":8443"; ma=300');
  });
});
