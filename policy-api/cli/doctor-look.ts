import { once } from "node:events";
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from "node:http2";
import { getCACertificates } from "node:tls";
import type { Endpoint } from "./endpoint.ts";
import { EXIT, Failure } from "./failure.ts";
import { unreachable } from "./client.ts";

/** What was tried, what came, and what that means. */
export interface Row {
  readonly tried: string;
  readonly came: string;
  readonly means: string;
}

export function meaning(is: boolean | null | undefined, yes: string, no: string): string {
  return is == null ? "unknown" : is ? yes : no;
}

/** A response as it came over HTTP/2. */
export interface Seen {
  readonly path: string;
  readonly status: number;
  readonly altSvc: readonly string[];
  readonly headers: IncomingHttpHeaders;
  /** Its beginning. */
  readonly body: string;
}

/** One HTTP/2 connection to a site, as a browser has one. */
export interface Looking {
  /** Asks for a path. @throws Failure */
  see(path: string, headers?: Readonly<Record<string, string>>): Promise<Seen>;
  close(): void;
}

/** A page that moves is followed so often, on the same site. */
const MOVES_MAX = 3;
/** Files of a page that are looked at. */
const FILES_MAX = 3;
/** So much of a page names enough of its files. */
const BODY_MAX_BYTES = 1_000_000;

/** Connects over HTTP/2. @throws Failure */
export async function lookAt({ origin, ca, timeoutMs }: Endpoint): Promise<Looking> {
  if (!origin.startsWith("https:"))
    throw new Failure(EXIT.usage, "Browsers are offered HTTP/3 over https alone: give an https address.");
  const session = connect(origin, ca === undefined ? {} : { ca: [...getCACertificates("default"), ca] });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await once(session, "connect", { signal });
  } catch (error) {
    session.destroy();
    throw unreachable(origin, error, signal.aborted ? timeoutMs : undefined, false);
  }
  // From here on each request reports its errors.
  session.on("error", () => undefined);
  return {
    see: async (path, headers = {}) => {
      const late = AbortSignal.timeout(timeoutMs);
      try {
        return await ask(session, path, headers, late);
      } catch (error) {
        throw unreachable(origin, error, late.aborted ? timeoutMs : undefined, false);
      }
    },
    close: () => session.destroy(),
  };
}

/** Follows a page on the same site. Returns every response, as a browser reads the headers of each. @throws Failure */
export async function seePage(looking: Looking, path: string, origin: string): Promise<readonly Seen[]> {
  const seen: Seen[] = [];
  for (let next: string | undefined = path; next !== undefined && seen.length <= MOVES_MAX;) {
    const page: Seen = await looking.see(next, { "sec-fetch-dest": "document", accept: "text/html" });
    seen.push(page);
    next = movedTo(page, origin);
  }
  return seen;
}

/** What comes of a file of a page. What cannot be had by itself is not known, and the rest is. */
export async function seeFile(looking: Looking, file: string): Promise<Seen | undefined> {
  return looking.see(file, { "sec-fetch-dest": "image" }).catch(() => undefined);
}

async function ask(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Seen> {
  const stream = session.request({ ":path": path, ...headers }, { signal });
  // A stream may end without a response and without an error, as where the connection closes.
  const closed = once(stream, "close").then((): never => {
    throw Object.assign(new Error("closed"), { code: "ECONNRESET" });
  });
  closed.catch(() => undefined);
  const [reply] = (await Promise.race([once(stream, "response"), closed])) as [
    IncomingHttpHeaders & { ":status"?: number },
  ];
  const body = await beginningOf(stream);
  return { path, status: reply[":status"] ?? 0, altSvc: [reply["alt-svc"] ?? []].flat(), headers: reply, body };
}

/** What of a body came until it ended, broke off or was enough. */
async function beginningOf(stream: ClientHttp2Stream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= BODY_MAX_BYTES) break;
    }
  } catch {
    // Its headers are what is looked at.
  }
  return Buffer.concat(chunks).toString();
}

/** The path on the same site to which a response leads. */
function movedTo({ status, path, headers: { location } }: Seen, origin: string): string | undefined {
  const base = new URL(path, origin);
  if (status < 300 || status >= 400 || location === undefined || !URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return url.origin === origin ? url.pathname + url.search : undefined;
}

/** Elements whose files a browser loads with the page. Of links those of these kinds. */
const LOADED = /<(img|script|link)\b([^>]*)>/gi;
const LINKS = /\brel\s*=\s*["']?(?:shortcut )?(?:stylesheet|icon|preload|modulepreload)\b/i;
const ADDRESS = /\b(?:src|href)\s*=\s*(?:"([^"]+)"|'([^']+)'|([^\s"'>]+))/i;

/**
 * Files of the same site that a page loads, by their paths: a few, images first, which may well pass no worker.
 *
 * @param site Another site than the page's own.
 */
export function filesOf(html: string, page: URL, site = page): readonly string[] {
  const found = new Map<string, boolean>();
  for (const [, element = "", attributes = ""] of html.matchAll(LOADED)) {
    const isLink = element.toLowerCase() === "link";
    if (isLink && !LINKS.test(attributes)) continue;
    const [, double, single, bare] = ADDRESS.exec(attributes) ?? [];
    const text = (double ?? single ?? bare)?.replaceAll("&amp;", "&");
    const url = text !== undefined && URL.canParse(text, page.href) ? new URL(text, page) : undefined;
    if (url?.origin === site.origin) found.set(url.pathname + url.search, element.toLowerCase() === "img");
  }
  const [images, others] = [true, false].map((isImage) => [...found].filter(([, is]) => is === isImage));
  return [...(images ?? []), ...(others ?? [])].map(([path]) => path).slice(0, FILES_MAX);
}
