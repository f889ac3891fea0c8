import type { UdpBuffers } from "../policy-api/api/ports.ts";
import type { Isolate } from "./isolate.ts";
import type { Stores } from "./stores.ts";

/**
 * Answers the TLS edge's heartbeat, which comes every 250 ms. The two tell each other of a kill switch that the store could
 * not take, and the edge says whether HTTP/3 answers, and how large the buffers of its UDP sockets are.
 */
export function answerHeartbeat(
  { headers }: Request,
  stores: Stores,
  ctx: Pick<ExecutionContext, "waitUntil">,
  isolate: Isolate,
): Response {
  const nowMs = Date.now();
  const http3 = headers.get("adaptive-h3-http3");
  if (http3 === "ok" || http3 === "down" || http3 === "off") isolate.edgeHttp3 = { state: http3, atMs: nowMs };
  isolate.udpBuffers = readBuffers(headers.get("adaptive-h3-udp-buffers") ?? "");
  const kill = isolate.kill.exchange(headers.get("adaptive-h3-kill") ?? undefined);
  if (isolate.kill.unstored !== undefined) ctx.waitUntil(isolate.retryKill(stores, nowMs));
  return new Response(null, { status: 204, headers: kill === undefined ? {} : { "adaptive-h3-kill": kill } });
}

/** Bytes to receive, to send, and wanted of each. Null: anything else. */
function readBuffers(text: string): UdpBuffers | null {
  const [, receiveBytes, sendBytes, wantedBytes] = (/^(\d{1,12}) (\d{1,12}) (\d{1,12})$/.exec(text) ?? []).map(Number);
  if (receiveBytes === undefined || sendBytes === undefined || wantedBytes === undefined) return null;
  return { receiveBytes, sendBytes, wantedBytes };
}
