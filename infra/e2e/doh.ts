import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** One answer of DNS: its type, and its data as the wire has it. */
export interface DnsAnswer {
  readonly type: number;
  readonly rdata: readonly number[];
}

/** An HTTPS record (RFC 9460) with this alpn, for the name itself. */
export function httpsRecord(...alpn: readonly string[]): DnsAnswer {
  const texts = alpn.flatMap((one) => [one.length, ...Buffer.from(one, "ascii")]);
  // SvcPriority 1, TargetName ".", SvcParamKey alpn.
  return { type: 65, rdata: [0, 1, 0, 0, 1, 0, texts.length, ...texts] };
}

/** Starts a server of DNS over HTTPS (RFC 8484), without TLS, that answers every question with these. Returns its address. */
export async function startDoh(answers: readonly DnsAnswer[]): Promise<string> {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const query = await buffer(request);
    response.writeHead(200, { "content-type": "application/dns-message" });
    response.end(replyTo(query, answers));
  };
  const server = createServer((request, response) => {
    void answer(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/dns-query`;
}

/** A message of one question (RFC 1035, section 4.1), and the records of its type. */
function replyTo(query: Uint8Array, answers: readonly DnsAnswer[]): Buffer {
  let end = 12;
  while ((query[end] ?? 0) !== 0) end += 1 + (query[end] ?? 0);
  const question = query.subarray(12, end + 5);
  const type = query[end + 2] ?? 0;
  const records = answers
    .filter((answer) => answer.type === type)
    .map(({ rdata }) => [0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, rdata.length >> 8, rdata.length & 0xff, ...rdata]);
  const head = [query[0] ?? 0, query[1] ?? 0, 0x81, 0x80, 0, 1, 0, records.length, 0, 0, 0, 0];
  return Buffer.from([...head, ...question, ...records.flat()]);
}
