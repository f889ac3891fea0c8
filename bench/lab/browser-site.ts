import type { IncomingMessage, ServerResponse } from "node:http";
import { crc32, deflateSync } from "node:zlib";
import {
  type AssetKind,
  BROWSER_PAGES,
  BROWSER_PREFIX,
  type BrowserPage,
  DOCUMENT_BYTES,
  OFFER_PARAMETER,
} from "../model/browser-pages.ts";

const TYPES: Readonly<Record<AssetKind, string>> = { css: "text/css", js: "text/javascript", png: "image/png" };

/** Answers what lies under /browser/; false where the request is for something else. Nothing may be stored. */
export function serveBrowserSite(request: IncomingMessage, response: ServerResponse): boolean {
  const [path = "", query] = request.url?.split("?") ?? [];
  if (!path.startsWith(BROWSER_PREFIX)) return false;
  const name = path.slice(BROWSER_PREFIX.length);
  const asset = /^(css|js|png)\/(\d{1,8})\/\d{1,2}$/.exec(name);
  if (asset !== null) send(response, TYPES[asset[1] as AssetKind], assetOf(asset[1] as AssetKind, Number(asset[2])));
  else if (Object.hasOwn(BROWSER_PAGES, name))
    send(response, "text/html; charset=utf-8", documentOf(name as BrowserPage), altSvcOf(query, request.headers.host));
  else response.writeHead(404).end();
  return true;
}

function send(response: ServerResponse, type: string, body: Buffer, altSvc?: string): void {
  response
    .writeHead(200, {
      "content-type": type,
      "content-length": body.length,
      "cache-control": "no-store",
      // A page is told how its files came, from another host too.
      "timing-allow-origin": "*",
      ...(altSvc === undefined ? {} : { "alt-svc": altSvc }),
    })
    .end(body);
}

/** What a page's URL asks for: HTTP/3 on the port that the request came by, for a day, as CDNs offer it. */
function altSvcOf(query: string | undefined, host = ""): string | undefined {
  switch (new URLSearchParams(query).get(OFFER_PARAMETER)) {
    case "h3":
      return `h3=":${/:(\d+)$/.exec(host)?.[1] ?? "443"}"; ma=86400`;
    case "clear":
      return "clear";
    default:
      return undefined;
  }
}

function documentOf(page: BrowserPage): Buffer {
  const tags = (wanted: AssetKind, tag: (path: string, bytes: number) => string): string =>
    BROWSER_PAGES[page]
      .flatMap(([kind, bytes], number) =>
        kind === wanted ? [tag(`${BROWSER_PREFIX}${kind}/${bytes}/${number}`, bytes)] : [],
      )
      .join("\n");
  const image = (path: string, bytes: number): string => {
    const { width, height } = dimensionsOf(bytes);
    return `<img src="${path}" width="${width}" height="${height}" alt="">`;
  };
  return padded(
    `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>${page}</title><link rel="icon" href="data:,">
${tags("css", (path) => `<link rel="stylesheet" href="${path}">`)}
${tags("js", (path) => `<script defer src="${path}"></script>`)}
<h1>A page that a browser loads</h1>
<p>Its images are as large as they say, and are decoded and painted.</p>
${tags("png", image)}
<!--`,
    "-->\n",
    DOCUMENT_BYTES,
  );
}

const ASSETS = new Map<string, Buffer>();

/** The same bytes for the same kind and size. */
function assetOf(kind: AssetKind, bytes: number): Buffer {
  const key = `${kind} ${bytes}`;
  const asset = ASSETS.get(key) ?? (kind === "png" ? pngOf(bytes) : padded("/*", "*/\n", bytes));
  ASSETS.set(key, asset);
  return asset;
}

function padded(begin: string, end: string, bytes: number): Buffer {
  const body = Buffer.alloc(Math.max(bytes, begin.length + end.length), "x");
  body.write(begin, 0, "latin1");
  body.write(end, body.length - end.length, "latin1");
  return body;
}

const LARGE_BYTES = 400_000;

/** Large files are larger pictures: the first of them is what a page's largest contentful paint is of. */
function dimensionsOf(bytes: number): { width: number; height: number } {
  return bytes >= LARGE_BYTES ? { width: 640, height: 400 } : { width: 320, height: 200 };
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHUNK_OVERHEAD = 12;

/**
 * A picture that can be painted only when nearly all of it is there: what makes it as large as it is stands before its
 * pixels, in a private chunk that decoders pass over (PNG, third edition, 5.4 and 13.1).
 */
function pngOf(bytes: number): Buffer {
  const { width, height } = dimensionsOf(bytes);
  // Eight bits of grey.
  const header = Buffer.concat([uint32(width), uint32(height), Buffer.from([8, 0, 0, 0, 0])]);
  // A filter byte and then the pixels of each line: noise, so that browsers do not take it for a placeholder.
  const lines = Uint8Array.from({ length: height * (width + 1) }, (_, i) =>
    i % (width + 1) === 0 ? 0 : (i * 2_654_435_761) >>> 24,
  );
  const before = Buffer.concat([SIGNATURE, chunk("IHDR", header)]);
  const after = Buffer.concat([chunk("IDAT", deflateSync(lines)), chunk("IEND", Buffer.alloc(0))]);
  const padding = Math.max(0, bytes - before.length - CHUNK_OVERHEAD - after.length);
  return Buffer.concat([before, chunk("paDd", Buffer.alloc(padding, 0x5a)), after]);
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([uint32(data.length), typed, uint32(crc32(typed))]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
