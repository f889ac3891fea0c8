import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Reason } from "../../policy-api/decision/decide.ts";
import { DEMO_NETWORKS, type Emulated, emulatedAt, emulatedPath, networkText } from "./demo-networks.ts";

/** The largest file, so that a typing error does not fill a disk. */
const IMAGE_MAX_BYTES = 1_000_000_000;
const CHUNK = Buffer.from(Array.from({ length: 65_536 }, (_, i) => (i * 167 + (i >> 8) * 31) & 0xff));

/** What the home page of `npm start` says more. */
export interface Demonstration {
  /** Whether visitors come who are not there. */
  readonly hasVisitors: boolean;
  /** Undefined: there is none, or not yet. */
  readonly dashboardUrl: () => string | undefined;
}

/**
 * A small site: a page with a style sheet, a script and four pictures, and files of any size under /image/<bytes>.
 *
 * @param demonstration where `emulate.ts` stands before the worker: then there are pages that are decided as if on other networks.
 */
export function createDemoOrigin(demonstration?: Demonstration): Server {
  return createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    if (request.method !== "GET" && request.method !== "HEAD")
      return send(request, response, 405, "text/plain", "Only GET and HEAD.\n", { allow: "GET, HEAD" });
    const bytes = /^\/image\/(\d{1,10})$/.exec(path)?.[1];
    if (bytes !== undefined && Number(bytes) <= IMAGE_MAX_BYTES) return sendImage(request, response, Number(bytes));
    const emulated = demonstration && emulatedAt(path);
    if (demonstration !== undefined && (emulated !== undefined || path === "/")) {
      const body = emulated === undefined ? homePage(demonstration) : emulatedPage(emulated);
      return send(request, response, 200, "text/html", body, { "cache-control": PAGE_CACHE });
    }
    const file = FILES[path];
    if (file === undefined)
      return send(request, response, 404, "text/plain", "Nothing here. The demonstration begins at /.\n", {});
    return send(request, response, 200, file.type, file.body, { "cache-control": file.cache });
  });
}

/** Listens on the loopback address, on a free port unless `port` is set. Returns the origin's URL and how to stop it. */
export async function startDemoOrigin(
  port = 0,
  demonstration?: Demonstration,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const server = createDemoOrigin(demonstration);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: Record<string, string>,
): void {
  const kept = status === 200 && headers["cache-control"] !== PAGE_CACHE;
  const etag = `"${Buffer.byteLength(body).toString(16)}-${checksum(body).toString(16)}"`;
  if (kept && request.headers["if-none-match"] === etag) {
    response.writeHead(304, { ...headers, etag }).end();
    return;
  }
  const length = { "content-length": Buffer.byteLength(body), "content-type": `${type}; charset=utf-8` };
  response.writeHead(status, { ...headers, ...length, ...(kept ? { etag } : {}) });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** Streams the same bytes for the same size, as fast as the client reads. */
function sendImage(request: IncomingMessage, response: ServerResponse, bytes: number): void {
  const etag = `"image-${bytes}"`;
  // The content under this URL never changes (RFC 8246).
  const headers = { "cache-control": "public, max-age=31536000, immutable", etag };
  if (request.headers["if-none-match"] === etag) {
    response.writeHead(304, headers).end();
    return;
  }
  const { range: asked, "if-range": ifRange = etag } = request.headers;
  const from = request.method === "GET" && ifRange === etag ? restFrom(asked, bytes) : 0;
  const range = from === 0 ? {} : { "content-range": `bytes ${from}-${bytes - 1}/${bytes}` };
  const length = {
    "content-type": "application/octet-stream",
    "content-length": bytes - from,
    "accept-ranges": "bytes",
  };
  response.writeHead(from === 0 ? 200 : 206, { ...headers, ...length, ...range });
  if (request.method === "HEAD") {
    response.end();
    return;
  }
  let left = bytes - from;
  const more = (): void => {
    while (left > 0) {
      // The byte at an offset does not depend on where the range begins.
      const begin = (bytes - left) % CHUNK.length;
      const chunk = CHUNK.subarray(begin, Math.min(CHUNK.length, begin + left));
      left -= chunk.length;
      if (!response.write(chunk)) {
        response.once("drain", more);
        return;
      }
    }
    response.end();
  };
  more();
}

/** Reads `bytes=N-` (RFC 9110, section 14.2): returns N. Any other range returns 0, the whole file. */
function restFrom(range: string | undefined, bytes: number): number {
  const from = Number(/^bytes=(\d{1,10})-$/.exec(range ?? "")?.[1] ?? 0);
  return from < bytes ? from : 0;
}

/** Adler-32 (RFC 1950 section 8.2): enough for an entity tag. */
function checksum(text: string): number {
  let a = 1;
  let b = 0;
  for (const byte of Buffer.from(text)) {
    a = (a + byte) % 65_521;
    b = (b + a) % 65_521;
  }
  return b * 65_536 + a;
}

/** As an icon: a 3 on the project's blue. It is in the page, so no request is made for it. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0072b2"/><path d="M5 4h6L8 7.5a2.5 2.5 0 1 1-3 3.5" fill="none" stroke="#fff" stroke-width="1.6"/></svg>',
)}`;

/** Reasons of decisions, as the page says them to its visitor (policy-api/decision/decide.ts has them all). Of the other reasons it says the name. */
const IN_WORDS = {
  "h3-faster": "HTTP/3 is expected to be faster here",
  "h2-faster": "HTTP/2 is expected to be faster here",
  "within-margin": "both are expected to be about as fast here",
  "quic-loses": "this network drops packets of HTTP/3",
  "own-loads-slower": "your pages were slower over HTTP/3",
  "udp-blocked": "you did not use earlier offers, so your network may block HTTP/3",
  exploration: "you were drawn by lot, so that what HTTP/3 saves can be measured",
  "not-measured": "your path is not known yet",
} as const satisfies Partial<Record<Reason, string>>;

/**
 * So each visit to a page is a request, and each request a decision. `no-cache` will not do: after a revalidation, the
 * page's script sees the protocol of the first load.
 */
const PAGE_CACHE = "no-store";
const ASSET_CACHE = "public, max-age=300";

const NAV = '<a href="/">Home</a> <a href="/two">Second page</a>';

const FILES: Readonly<Record<string, { type: string; cache: string; body: string }>> = {
  "/": { type: "text/html", cache: PAGE_CACHE, body: page("Home") },
  "/two": { type: "text/html", cache: PAGE_CACHE, body: page("Second page") },
  "/style.css": {
    type: "text/css",
    cache: ASSET_CACHE,
    body: `:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 42rem; margin: 2rem auto; padding: 0 1rem; background: light-dark(#fff, #0f1317); color: light-dark(#1b1f24, #e6e6e6) }
a { color: light-dark(#0a58ca, #7db4ff) } table { border-collapse: collapse; width: 100% } td:last-child { white-space: nowrap }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid light-dark(#d0d7de, #363b42) }
td.protocol { font-weight: 600 } nav a, button { margin-right: 1rem } button { font: inherit; padding: .2rem .8rem }
img { width: 4rem; height: 4rem; margin-right: .5rem }
`,
  },
  "/script.js": {
    type: "text/javascript",
    cache: ASSET_CACHE,
    body: `const list = document.querySelector("tbody");
function show(entry, row = list.insertRow()) {
  row.insertCell().textContent = new URL(entry.name).pathname;
  const protocol = row.insertCell();
  protocol.className = "protocol";
  protocol.textContent = entry.transferSize > 0 ? entry.nextHopProtocol : "from the cache";
  row.insertCell().textContent = Math.round(entry.duration) + " ms";
}
const why = performance.getEntriesByType("navigation")[0].serverTiming.find(({ name }) => name === "h3-why");
const reasons = ${JSON.stringify(IN_WORDS)};
const answers = { offered: "HTTP/3 is offered to you", "nothing said": "HTTP/3 is not offered to you", "any earlier offer taken back": "HTTP/3 is taken back from you" };
const [, answer, seconds, reason, version] = /^([a-z ]+?)(?: for (\\d+) s)?: ([\\w-]+), (version \\d+)/.exec(why?.description ?? "") ?? [];
if (answer !== undefined)
  document.querySelector("#why").textContent = answers[answer] + (seconds === undefined ? "" : ", for " +
    (seconds === "86400" ? "a day" : seconds + " s")) + ": " + (reasons[reason] ?? "as the policy's mode is") + " (" + reason + ", " + version + ").";
// The page's duration is known only after its load event.
addEventListener("load", () => setTimeout(() => show(performance.getEntriesByType("navigation")[0], list.insertRow(0))));
new PerformanceObserver((entries) => entries.getEntries().forEach((entry) => show(entry))).observe({ type: "resource", buffered: true });
document.querySelector("button").addEventListener("click", () =>
  fetch("/image/1000000", { cache: "no-store" }).then((response) => response.arrayBuffer()));
`,
  },
  ...Object.fromEntries(
    ["#0072b2", "#e69f00", "#009e73", "#cc79a7"].map((colour, i) => [
      `/dot/${i + 1}.svg`,
      {
        type: "image/svg+xml",
        cache: ASSET_CACHE,
        body: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><circle cx="5" cy="5" r="4" fill="${colour}"/></svg>\n`,
      },
    ]),
  ),
};

/** With an introduction before what was decided, and a note after it. */
function page(title: string, { intro = "", note = "", nav = NAV } = {}): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - adaptive-h3 demo</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/style.css">
<h1>${title}</h1>
${intro}<p>For every page that you open, the worker makes a decision, which the terminal shows. <strong id="why"></strong></p>
${note}<p>The table shows the protocol of each file that did not come from the browser's cache.</p>
<nav>${nav} <button>Load 1 MB</button></nav>
<p>${[1, 2, 3, 4].map((i) => `<img src="/dot/${i}.svg" alt="">`).join("")}</p>
<table><thead><tr><th>File<th>Protocol<th>Took</thead><tbody></tbody></table>
<script type="module" src="/script.js"></script>
</html>
`;
}

/** It says what it shows. Each has links for a visitor of its own: a browser that cannot follow offers spoils no other one's. */
function homePage({ hasVisitors, dashboardUrl }: Demonstration): string {
  const url = dashboardUrl();
  const dashboard = url === undefined ? "dashboard" : `<a href="${url}">dashboard</a>`;
  const visitors = hasVisitors
    ? "shows what is decided about invented visitors, and within two minutes on which networks HTTP/3 is faster. Some are drawn by lot, to find that out"
    : "shows all decisions. With <code>DEMO_VISITORS=on npm start</code> invented visitors come too, and it shows on which networks HTTP/3 is faster";
  const intro = `<p>This is the demonstration of adaptive-h3, which offers HTTP/3 only to clients for which it is faster: on some paths and servers HTTP/2
is. The ${dashboard} ${visitors}.</p>
`;
  return page("Home", { intro, note: networkLinks() });
}

function networkLinks(): string {
  const visitor = (): number => Math.floor(Math.random() * 65_536);
  const links = DEMO_NETWORKS.map(
    (network) => `<li><a href="${emulatedPath(network, visitor())}">${networkText(network)}</a>`,
  );
  return `<p>Your own path is this machine's loopback. Be decided as if on another network (emulated, for this browser alone):
<ul>${links.join("\n")}</ul>
`;
}

function emulatedPage({ network, visitor, page: name }: Emulated): string {
  const nav = `<a href="${emulatedPath(network, visitor)}">First page</a> <a href="${emulatedPath(network, visitor, "two")}">Second page</a> <a href="/">Other networks</a>`;
  const unknown =
    network.udpLossRatio === undefined
      ? ""
      : " What it does to UDP the worker learns from a page that comes over HTTP/3: so the first page offers HTTP/3, and the second takes the offer back.";
  const note = `<p><strong>Emulated</strong>: you are decided as if on this network (${networkText(network)}), by the policy for a server whose TCP has the
congestion control cubic, Linux' default. The times in the table are this machine's: nothing slows the page down.${unknown}</p>
<p>If HTTP/3 is offered, the next page that you open comes over it: the table says h3. If it does not, start a browser as the terminal
says: others do not trust this certificate for HTTP/3.</p>
`;
  return page(name === "" ? "First page" : "Second page", { note, nav });
}
