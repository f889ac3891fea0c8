import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** One answer of DNS: its type, and its data about a host as the wire has it. */
export interface DnsAnswer {
  readonly type: number;
  /** Undefined: it is about every host. */
  readonly host?: string;
  rdata(host: string): readonly number[];
}

/**
 * An HTTPS record (RFC 9460) with this alpn, for the host itself. It names the host: on another port than 443 the record's own name
 * is not the host's (section 2.3), and browsers pass over a record for another name.
 */
export function httpsRecord(...alpn: readonly string[]): DnsAnswer {
  const texts = alpn.flatMap(textOf);
  // SvcPriority 1, TargetName, SvcParamKey alpn.
  return { type: 65, rdata: (host) => [0, 1, ...host.split(".").flatMap(textOf), 0, 0, 1, 0, texts.length, ...texts] };
}

/** An address record (RFC 1035, section 3.4.1). */
export function addressRecord(address: string): DnsAnswer {
  const bytes = address.split(".").map(Number);
  return { type: 1, rdata: () => bytes };
}

/** A text after its length. */
function textOf(text: string): number[] {
  return [text.length, ...Buffer.from(text, "ascii")];
}

/** A resolver over TLS, as browsers want it. The key and the certificate are PEM. */
export interface DohOptions {
  readonly tls?: { readonly key: string; readonly cert: string };
}

/**
 * Starts a server of DNS over HTTPS (RFC 8484) that answers every question with these: by default without TLS.
 * Returns its address. It ends with the test.
 */
export async function startDoh(answers: readonly DnsAnswer[], { tls }: DohOptions = {}): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    // In the URL of a GET, or a POST's body.
    const asked = new URL(request.url ?? "", "https://resolver.test").searchParams.get("dns");
    const query = asked === null ? await buffer(request) : Buffer.from(asked, "base64url");
    response.writeHead(200, { "content-type": "application/dns-message" });
    response.end(replyTo(query, answers));
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http${tls === undefined ? "" : "s"}://127.0.0.1:${(server.address() as AddressInfo).port}/dns-query`;
}

/** A message of one question (RFC 1035, section 4.1), and the records of its type. */
function replyTo(query: Uint8Array, answers: readonly DnsAnswer[]): Buffer {
  const labels: string[] = [];
  let end = 12;
  for (let length = query[end] ?? 0; length !== 0; length = query[end] ?? 0) {
    labels.push(Buffer.from(query.subarray(end + 1, end + 1 + length)).toString("latin1"));
    end += 1 + length;
  }
  const host = labels.filter((label) => !label.startsWith("_")).join(".");
  const question = query.subarray(12, end + 5);
  const type = query[end + 2] ?? 0;
  const records = answers
    .filter((answer) => answer.type === type && (answer.host ?? host) === host)
    .map((answer) => answer.rdata(host))
    .map((rdata) => [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, rdata.length >> 8, rdata.length & 0xff, ...rdata]);
  const head = [query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0];
  return Buffer.from([...head, ...question, ...records.flat()]);
}
