import type { Explanation } from "../contract/decisions.ts";
import type { Reason } from "../core/decide.ts";
import { type Basis, KNOWN_PACKETS } from "../core/path.ts";
import { bytes, count, milliseconds, percent, rate } from "./quantities.ts";
import { readings } from "./readings.ts";
import { nameList } from "./table.ts";
import { ifGiven } from "./values.ts";

type Decision = Explanation["decision"];

const REASONS: Readonly<Record<Reason, string>> = {
  "mode-observe": "the policy's mode here is observe: measure, and touch no header",
  "mode-fixed-h2": "the policy's mode here is fixed-h2: never offer",
  "mode-fixed-h3": "the policy's mode here is fixed-h3: always offer",
  "kill-switch": "the kill switch is on, whatever the policy says",
  "cold-start": "nothing is known of this client or its network: as the policy's cold start says",
  "h3-faster": "HTTP/3 is expected to be faster, by more than the margin",
  "h2-faster": "HTTP/2 is expected to be faster",
  "within-margin": "HTTP/3 is expected to be faster, but not by the margin over the whole uncertainty",
  "udp-blocked": "this client was offered HTTP/3 and did not come: most likely no UDP reaches it",
  share: "by the policy's share of clients",
  exploration: "drawn, not predicted: this client explores",
};

const EVIDENCE: Readonly<Record<Basis, string>> = {
  client: "what was measured of this client",
  network: "what was measured of its network (/24 or /48)",
  asn: "what was measured of its autonomous system",
  prior: "nothing but the RTT: the mix of networks of the policy's cold start",
};

/**
 * A decision and everything that explains it, in lines.
 *
 * @param isLookedUp whether the server looked up a client, about whom it may store more than counts
 */
export function explanationText(explanation: Explanation, isLookedUp: boolean): string {
  const { policyVersion, revision, request, history, decision, altSvc } = explanation;
  const { mode, reason, propensity, basis, path, predicted, saving, savingLow, savingHigh } = decision;
  const version = `version ${policyVersion}${revision === null ? "" : ` (revision ${revision})`}`;
  // A newer server may have reasons that are not in the table.
  const why: string | undefined = REASONS[reason];
  return nameList({
    header: headerText(altSvc, reason),
    reason: `${reason}: ${why ?? "a reason that this program does not know"}`,
    policy: `${policyVersion === null ? "the one of the file" : version}, ${mode} on ${request.path}`,
    request: requestText(request),
    known: historyText(history, isLookedUp),
    path: path && `RTT ${milliseconds(path.rttMs)}, loss ${percent(path.lossRatio)}, ${rate(path.deliveryRateBps)}`,
    evidence: basis && EVIDENCE[basis],
    times: predicted && timesText(predicted),
    saving: ifGiven(saving, (is) => `${percent(is)} (${percent(savingLow ?? is)} to ${percent(savingHigh ?? is)})`),
    chance: `${percent(propensity)} that this policy gives this answer here`,
  });
}

function timesText({ stayMs, switchMs, coldMs, contentBytes, clamped }: NonNullable<Decision["predicted"]>): string {
  const times = `stay on HTTP/2 ${milliseconds(stayMs)}, switch ${milliseconds(switchMs)}, begin on HTTP/3 ${milliseconds(coldMs)}`;
  return `${times}; for ${bytes(contentBytes)}${clamped ? " (outside what was measured)" : ""}`;
}

function requestText({ transport, rttMs, deliveryRateBps, asn, country }: Explanation["request"]): string {
  const parts = [
    `over ${transport.toUpperCase()}`,
    ifGiven(rttMs, (ms) => `RTT ${milliseconds(ms)}`),
    ifGiven(deliveryRateBps, rate),
    ifGiven(asn, (number) => `AS ${number}`),
    country,
  ];
  return parts.filter(Boolean).join(", ");
}

/** The header. The reason explains why nothing is offered; `clear` is sent because of an earlier offer. */
function headerText(altSvc: string | null, reason: Reason): string {
  if (altSvc === null) return "none";
  const isTakenBack = altSvc === "clear" && reason !== "kill-switch";
  return `alt-svc: ${altSvc}${isTakenBack ? " (nothing is offered, and an earlier offer may still live)" : ""}`;
}

function historyText({ state, ...levels }: Explanation["history"], isLookedUp: boolean): string {
  const known = readings(levels).map(({ level, transport, packets, lossRatio }) => {
    const loss = lossRatio === undefined ? "" : `, loss ${percent(lossRatio)}`;
    return `${level} over ${transport}${loss} (${count(Math.round(packets))} packets)`;
  });
  if (known.length > 0) return known.join("; ");
  if (state === "late") return "the look-up came too late";
  return isLookedUp ? `nothing, or under ${KNOWN_PACKETS} packets (\`look-up\` says what is stored)` : "nothing";
}
