import { alpnOf } from "./doctor/svcb.ts";
import { LOCAL_HOSTS } from "./endpoint.ts";

/** What DNS says of HTTP/3 for a host: an HTTPS record with h3 in its alpn. Undefined: it could not be asked. */
interface Records {
  readonly offersH3: boolean | undefined;
  readonly why: string;
}

/** Cloudflare's public resolver: it knows the records that a zone makes by itself. */
const RESOLVER = "https://cloudflare-dns.com/dns-query";
const HTTPS_RECORD = 65;
/** Response codes: RFC 1035, section 4.1.1. A name with a port in it has no records unless somebody made some. */
const NO_ERROR = 0;
const NO_SUCH_NAME = 3;
const TIMEOUT_MS = 5_000;

/**
 * Asks a resolver for the HTTPS records of a site, over HTTPS (RFC 8484). Another port has a name of its own (RFC 9460, section 9.1). For a
 * name of this machine browsers ask none, so only one that was given is asked.
 */
export async function askRecords({ hostname, port }: URL, given: string | undefined): Promise<Records> {
  if (given === undefined && LOCAL_HOSTS.has(hostname))
    return { offersH3: false, why: "not asked, as browsers do not for this machine" };
  const resolver = given ?? RESOLVER;
  const name = port === "" || port === "443" ? hostname : `_${port}._https.${hostname}`;
  try {
    const reply = await fetch(resolver, {
      method: "POST",
      headers: { "content-type": "application/dns-message", accept: "application/dns-message" },
      body: question(name),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!reply.ok) return { offersH3: undefined, why: `${resolver} answers with status ${reply.status}` };
    const message = new Uint8Array(await reply.arrayBuffer());
    const code = (message[3] ?? 0) & 0x0f;
    if (code !== NO_ERROR && code !== NO_SUCH_NAME)
      return { offersH3: undefined, why: `${resolver} answers with DNS error ${code}` };
    const records = answers(message);
    if (records.some(isAlias)) return { offersH3: undefined, why: "an alias, which was not followed" };
    const alpns = records.map((rdata) => alpnOf(rdata) ?? []);
    const shown = alpns.map((alpn) => `alpn=${alpn.join(",") || "-"}`).join("; ");
    return { offersH3: alpns.some((alpn) => alpn.includes("h3")), why: alpns.length === 0 ? "no record" : shown };
  } catch (error) {
    return {
      offersH3: undefined,
      why: `${resolver} cannot be asked: ${(error as Error).message} (--resolver names another)`,
    };
  }
}

/** A record of priority 0 names another name, and has no parameters (RFC 9460, section 2.4.2). */
function isAlias(rdata: Uint8Array): boolean {
  return rdata[0] === 0 && rdata[1] === 0;
}

/** A DNS query (RFC 1035, section 4.1) with recursion desired. Its id is 0, so that caches may answer (RFC 8484, section 4.1). */
function question(name: string): Uint8Array<ArrayBuffer> {
  const labels = name.split(".").flatMap((label) => [label.length, ...Buffer.from(label, "ascii")]);
  return Uint8Array.from([0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, HTTPS_RECORD, 0, 1]);
}

/** The data of all HTTPS records among the answers. @throws RangeError if the message breaks off */
function answers(message: Uint8Array): Uint8Array[] {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const found: Uint8Array[] = [];
  let at = 12;
  for (let i = 0; i < view.getUint16(4); i++) at = afterName(view, at) + 4;
  for (let i = 0; i < view.getUint16(6); i++) {
    at = afterName(view, at);
    const [type, length] = [view.getUint16(at), view.getUint16(at + 8)];
    if (type === HTTPS_RECORD) found.push(message.subarray(at + 10, at + 10 + length));
    at += 10 + length;
  }
  return found;
}

/** A name ends with an empty label, or with a pointer to the rest of it. */
function afterName(view: DataView, from: number): number {
  let at = from;
  for (;;) {
    const length = view.getUint8(at);
    if (length >= 0xc0) return at + 2;
    at += 1 + length;
    if (length === 0) return at;
  }
}
