import { describe, expect, it } from "vitest";
import { REPORTER_ETAG, REPORTER_SCRIPT } from "./script.ts";
import { serveScript } from "./serve-script.ts";

const get = (headers: Record<string, string> = {}, method = "GET"): Response =>
  serveScript(new Request("https://site.test/_h3/v1/reporter.js", { method, headers }));

describe("the reporter", () => {
  it("is a script that caches keep for a day", async () => {
    const response = get();
    expect([response.status, await response.text()]).toEqual([200, REPORTER_SCRIPT]);
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(response.headers.get("cache-control")).toBe("public, max-age=86400");
    expect(REPORTER_SCRIPT.length).toBeGreaterThan(500);
  });

  it.each([REPORTER_ETAG, `W/${REPORTER_ETAG}`, `"other", ${REPORTER_ETAG}`, "*"])("304 for %s", async (tag) => {
    const response = get({ "if-none-match": tag });
    expect([response.status, await response.text()]).toEqual([304, ""]);
    expect(response.headers.get("etag")).toBe(REPORTER_ETAG);
  });

  it("whole for another tag", () => {
    expect(get({ "if-none-match": '"other"' }).status).toBe(200);
  });

  it.each([
    ["HEAD", 200],
    ["POST", 405],
  ])("%s: %i, without a body", async (method, status) => {
    const response = get({}, method);
    expect([response.status, await response.text()]).toEqual([status, ""]);
  });
});
