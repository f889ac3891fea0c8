import type { Transport } from "../../policy-api/decision/sample.ts";
import { cfOf, emulatedAt, lossOf } from "./demo-networks.ts";

interface Env {
  readonly WORKER: { fetch(request: Request): Promise<Response> };
}
type Arrived = Request & { readonly cf?: Readonly<Record<string, unknown>> };

/** So many packets leave little doubt about a network. */
const PACKETS = 1_000;

/**
 * Stands before the worker in the demonstration's workerd, and nowhere else (demo-config.ts): a page below /as/ arrives as if its
 * visitor were on another network. The protocol is the real one. All other requests pass.
 */
export default {
  fetch(request: Arrived, { WORKER }: Env): Promise<Response> {
    const emulated = emulatedAt(URL.parse(request.url)?.pathname ?? "");
    if (emulated === undefined) return WORKER.fetch(request);
    const { network, visitor } = emulated;
    const httpProtocol = request.cf?.["httpProtocol"];
    const transport: Transport = httpProtocol === "HTTP/3" ? "quic" : "tcp";
    const counted = {
      id: crypto.randomUUID().replaceAll("-", ""),
      sent: PACKETS,
      lost: Math.round(PACKETS * lossOf(network, transport)),
    };
    const { clientTcpRtt: _tcp, clientQuicRtt: _quic, edgeL4: _rate, ...rest } = request.cf ?? {};
    const cf = { ...rest, ...cfOf(network, transport, counted), httpProtocol };
    const headers = new Headers(request.headers);
    // For benchmarks, as those of visitors who are not there (demo-visitors.ts): nobody's, and one for each browser.
    headers.set("cf-connecting-ip", `198.19.${visitor >> 8}.${visitor & 255}`);
    return WORKER.fetch(new Request(request, { headers, cf } as RequestInit));
  },
};
