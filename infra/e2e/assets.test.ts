// Only here: a browser fetches a page's files from another host, under policies and DNS records.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { BrowserContext } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { CLIENTS, type DrivenPage, launchBrowser, launchWithDns, navigate } from "./browser.ts";
import { doctor } from "./doctor-run.ts";
import { addressRecord, httpsRecord, startDoh } from "./doh.ts";
import { forwardTcp } from "./forward-tcp.ts";
import { fixed, startTestSystem, until } from "./harness.ts";

const SITE = "www.test";
const FILES = "files.test";

interface Loaded {
  readonly page: string;
  /** Of pictures and the style sheet, by the host that they came from. The script is a module, which stays. */
  readonly files: Record<string, string[]>;
}

/** Loads a page, and returns the protocols. The browser's own account: a page is not told those of another host's files. */
async function load(browser: BrowserContext, port: number, path: string): Promise<Loaded> {
  const page = await browser.newPage();
  const files: Record<string, string[]> = {};
  const session = await browser.newCDPSession(page);
  session.on("Network.responseReceived", ({ response: { url, protocol = "" } }) => {
    if (!/\/(?:dot\/|style\.css)/.test(url)) return;
    const { hostname } = new URL(url);
    files[hostname] = [...new Set([...(files[hostname] ?? []), protocol])];
  });
  await session.send("Network.enable");
  // A file from a cache comes over nothing.
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  const protocol = await navigate(page, port, path, SITE);
  await page.close();
  return { page: protocol, files };
}

it(
  "lets a page's files come over HTTP/2 where a DNS record brings the page over HTTP/3",
  { timeout: 60_000 },
  async () => {
    let port = 0;
    const files = `https://${FILES}:${await forwardTcp(() => port)}`;
    const system = await startTestSystem({
      variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200", ASSETS: `${files} /dot/ /style.css` },
    });
    ({ port } = system);
    const read = (name: string): string => readFileSync(join(system.stateDir, name), "utf8");
    const answers = [addressRecord("127.0.0.1"), { ...httpsRecord("h3", "h2"), host: SITE }];
    const resolver = await startDoh(answers, { tls: { key: read("dev-key.pem"), cert: read("dev-cert.pem") } });
    const browser = await launchWithDns(system.spkiSha256, [SITE, FILES], resolver);
    // A browser that knows the record lets QUIC and TCP race, and with no core to spare TCP may be first once.
    await until("a page over HTTP/3", async () => ((await load(browser, port, "/")).page === "h3" ? true : undefined));
    const at = (host: string, protocol: string): Loaded => ({ page: "h3", files: { [host]: [protocol] } });
    for (const [policy, expected] of [
      [fixed("fixed-h2"), at(FILES, "h2")],
      [fixed("fixed-h3"), at(SITE, "h3")],
      [fixed("fixed-h2"), at(FILES, "h2")],
      [fixed("observe"), at(SITE, "h3")],
    ] as const) {
      await system.putPolicy(policy);
      expect(await load(browser, port, "/")).toEqual(expected);
    }
  },
);

it("has the doctor look at the files' host", { timeout: 60_000 }, async () => {
  let port = 0;
  const forwarded = await forwardTcp(() => port);
  const lookAt = async (filesPort: number, ...records: readonly string[]) => {
    const ASSETS = `https://127.0.0.1:${filesPort} /dot/`;
    const system = await startTestSystem({ variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "1000", ASSETS } });
    ({ port } = system);
    await system.putPolicy(fixed("fixed-h2"));
    // The site is localhost.
    return doctor(system, await startDoh([{ ...httpsRecord(...records), host: "127.0.0.1" }]));
  };
  const fine = await lookAt(forwarded, "h2");
  expect(fine.report.next).toEqual([expect.stringMatching(/^Nothing is to be done here\./)]);
  expect(fine.report.rows).toContainEqual({
    tried: `127.0.0.1:${forwarded}/dot/3.svg`,
    came: "status 200",
    means: "the same as here",
  });
  expect(fine.code).toBe(0);

  const withH3 = await lookAt(forwarded, "h3", "h2");
  expect(withH3.report.next).toEqual([
    `https://127.0.0.1:${forwarded}, which ASSETS names, offers HTTP/3: it serves its purpose only without.`,
  ]);
  expect(withH3.code).toBe(1);

  const gone = await lookAt(9, "h2");
  expect(gone.report.next.join()).toContain("does not serve the same files: pages break. Take ASSETS out.");
  expect(gone.code).toBe(1);
});

/** What a browser has of a page's files: whether its image came, its script ran, and its style sheet applies. */
async function filesSeen(page: DrivenPage, url: string): Promise<readonly boolean[]> {
  await page.goto(url, { waitUntil: "load" });
  return page.evaluate(() => [
    document.images[0]?.naturalWidth === 1,
    document.title === "ran",
    getComputedStyle(document.body).marginTop === "7px",
  ]);
}

it.each(["Chromium", "Firefox"] as const)(
  "in %s every file of a page arrives under its policies, and the doctor sees files that browsers keep back",
  { timeout: 120_000 },
  async (name) => {
    const headers = new Map<string, Record<string, string>>();
    let fileHeaders: Record<string, string> = {};
    const types = { svg: "image/svg+xml", js: "text/javascript", css: "text/css" };
    const bodies = {
      svg: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>',
      js: 'document.title = "ran"',
      css: "body { margin-top: 7px }",
    };
    let html = `<!doctype html><title>a</title><link rel=stylesheet href=/static/a.css><body><img src=/static/a.svg><script src=/static/a.js></script>`;
    const server = createServer(({ url = "" }, response) => {
      const kind = /\.(svg|js|css)$/.exec(url)?.[1] as keyof typeof types | undefined;
      if (kind === undefined) response.writeHead(200, { "content-type": "text/html", ...headers.get(url) }).end(html);
      else
        response
          .writeHead(200, { "content-type": types[kind], "cache-control": "no-store", ...fileHeaders })
          .end(bodies[kind]);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    let port = 0;
    const files = `https://127.0.0.1:${await forwardTcp(() => port)}`;
    const system = await startTestSystem({
      origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "1000", ASSETS: `${files} /static/` },
    });
    ({ port } = system);
    await system.putPolicy(fixed("fixed-h2"));
    // A name that the edge's certificate has: Firefox looks.
    const { page } = await (await CLIENTS[name](system, ["www.h3.test"]))();
    const site = `https://www.h3.test:${port}`;
    const { host } = new URL(files);
    for (const [i, own] of [
      {},
      { "content-security-policy": `default-src 'self'; img-src ${host}` },
      { "content-security-policy": `default-src 'self'; report-uri ${files}/csp` },
      { "content-security-policy": `default-src 'self' ${host}; script-src 'self' ${host}/other/` },
      { "content-security-policy": `default-src 'self' ${host}, style-src 'self'; default-src *` },
      { "cross-origin-embedder-policy": "require-corp" },
      { "cross-origin-embedder-policy": "credentialless" },
    ].entries()) {
      headers.set(`/${i}`, own);
      expect([own, await filesSeen(page, `${site}/${i}`)]).toEqual([own, [true, true, true]]);
    }

    const resolver = await startDoh([{ ...httpsRecord("h2"), host: "127.0.0.1" }]);
    const allowed = await doctor(system, resolver);
    // What stays unknown of this site does not concern its files.
    expect(allowed.report.next).toEqual([expect.stringMatching(/^Nothing was found that speaks against it\./)]);
    const same = { tried: `${host}/static/a.svg`, came: "status 200", means: "the same as here" };
    expect(allowed.report.rows).toContainEqual(same);
    fileHeaders = { "cross-origin-resource-policy": "same-origin" };
    expect(await filesSeen(page, `${site}/0`)).toEqual([false, false, false]);
    const { report, code } = await doctor(system, resolver);
    expect(report.next.join()).toContain("keeps files from other hosts' pages: browsers block them");
    expect(code).toBe(1);

    // A page of the site's own that names files there, and takes none that does not allow it.
    html = html.replaceAll("=/static/", `=${files}/static/`);
    headers.set("/", { "cross-origin-embedder-policy": "require-corp" });
    for (const [policy, arrives] of [
      [undefined, false],
      ["cross-origin", true],
    ] as const) {
      fileHeaders = policy === undefined ? {} : { "cross-origin-resource-policy": policy };
      expect(await filesSeen(page, `${site}/`)).toEqual([arrives, arrives, arrives]);
      const said = await doctor(system, resolver);
      expect(said.report.next.join().includes("browsers block them")).toBe(!arrives);
    }
  },
);

it.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const)("changes a page that the origin compressed with %s", { timeout: 60_000 }, async (encoding, compress) => {
  const html = `<!doctype html><title>a</title><p>${"text ".repeat(20_000)}<img src="/static/a.png">`;
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/html", "content-encoding": encoding, etag: '"a"' });
    response.end(compress(html));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const system = await startTestSystem({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200", ASSETS: `https://${FILES}:1 /static/` },
  });
  await system.putPolicy(fixed("fixed-h2"));
  const page = await (await launchBrowser(system.spkiSha256, [SITE])).newPage();
  const response = await page.goto(`https://${SITE}:${system.port}/`, { waitUntil: "domcontentloaded" });
  expect(response?.headers()).toMatchObject({ "content-encoding": encoding, etag: 'W/"a"' });
  expect(await page.locator("img").getAttribute("src")).toBe(`https://${FILES}:1/static/a.png`);
  expect((await page.locator("p").textContent())?.length).toBe("text ".length * 20_000);
});
