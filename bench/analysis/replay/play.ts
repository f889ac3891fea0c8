import { decide } from "../../../policy-api/core/decide.ts";
import { applySamples } from "../../../policy-api/core/estimator.ts";
import type { History, RequestFacts } from "../../../policy-api/core/facts.ts";
import { historyAt } from "../../../policy-api/core/history.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { type Transport, TRANSPORTS } from "../../../policy-api/core/sample.ts";
import { mean } from "../statistics/summary.ts";
import type { Observation, RecordedCell, Visits } from "./cells.ts";

/** Two clients, so that a policy for half of them has one of each kind. */
const UNITS = [0.25, 0.75] as const;
const NOW_MS = 1_800_000_000_000;

/** The share of decisions that offer HTTP/3 to a client that has visited once, half of them over either protocol. */
export function offeredAfterVisit(policy: Policy, { observed, contentBytes }: RecordedCell): number {
  const told = withBytes(policy, contentBytes);
  const transports = TRANSPORTS.filter((transport) => observed[transport].length > 0);
  return mean(transports.map((transport) => offered(told, observed[transport], (seen) => known(transport, seen))));
}

/** The same for a client of whom only the handshake's RTT is known. */
export function offeredCold(policy: Policy, { observed, contentBytes }: RecordedCell): number {
  return offered(withBytes(policy, contentBytes), observed.tcp, () => UNKNOWN);
}

const UNKNOWN: History = { state: "unknown" };

function offered(policy: Policy, all: readonly Observation[], historyOf: (seen: Observation) => History): number {
  return mean(
    all.flatMap((seen) =>
      UNITS.map((shareUnit) =>
        Number(offers(policy, { transport: "tcp", rttMs: seen.minRttMs, path: "/", shareUnit }, historyOf(seen))),
      ),
    ),
  );
}

/**
 * The expected time of a first visit of three pages, each decided anew, milliseconds, from means of the pages of loads that
 * stayed and of loads that switched on the first page.
 *
 * What was not recorded is put together: a switch on a later page is one on the first less TCP's handshake; a page whose
 * document takes HTTP/3 back loads its image over a TCP connection that begins slowly, as the first page of a session
 * that stays, less the handshake (so it was in the recorded loads of the published policy: 199 and 389 ms in networks 2
 * and 3 where this says 198 and 388).
 */
export function visitMs(
  policy: Policy,
  { observed: { tcp, quic } }: RecordedCell,
  { handshakeMs, contentBytes }: Visits,
  { stay, switched }: { readonly stay: readonly number[]; readonly switched: readonly number[] },
): number {
  const told = withBytes(policy, contentBytes);
  const oneVisit = (seen: Readonly<Record<Transport, Observation>>, shareUnit: number): number => {
    let transport: Transport = "tcp";
    let total = 0;
    for (let page = 0; page < stay.length; page++) {
      const request: RequestFacts = {
        transport,
        rttMs: seen[transport].minRttMs,
        path: "/",
        shareUnit,
        ...(transport === "quic" ? { offering: true, offerUntilMs: NOW_MS + 60_000 } : {}),
      };
      const isOffered = offers(told, request, page === 0 ? UNKNOWN : known(transport, seen[transport]));
      const paid = page === 0 ? 0 : handshakeMs;
      if (transport === "tcp") total += isOffered ? (switched[0] ?? 0) - paid : (stay[page] ?? 0);
      else total += isOffered ? (switched[page] ?? 0) : (stay[0] ?? 0) - handshakeMs;
      transport = isOffered ? "quic" : "tcp";
    }
    return total;
  };
  return mean(
    tcp.flatMap((onTcp, i) => {
      const onQuic = quic[i % quic.length];
      return UNITS.map((unit) => (onQuic === undefined ? Number.NaN : oneVisit({ tcp: onTcp, quic: onQuic }, unit)));
    }),
  );
}

function offers(policy: Policy, request: RequestFacts, history: History): boolean {
  return decide(request, history, policy, NOW_MS, undefined).advertise.kind === "h3";
}

/** What the edge would know of the client a second later, by the same estimator: of a small visit nothing. */
function known(transport: Transport, seen: Observation): History {
  const sample = { ...seen, transport, connectionId: "recorded", atMs: NOW_MS - 1_000, closing: true };
  return historyAt({ client: applySamples({}, [sample]) }, [], NOW_MS);
}

function withBytes(policy: Policy, bytes: number): Policy {
  return { ...policy, contentBytes: { default: bytes, routes: [] } };
}
