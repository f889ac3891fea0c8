import type { Explanation } from "../api/contract/decisions.ts";
import type { Reason } from "../decision/decide.ts";
import { TRANSPORTS } from "../decision/sample.ts";
import { bytes, count, counted, milliseconds, percent, rate, roughly } from "./quantities.ts";
import { nameList } from "./table.ts";
import { ifGiven } from "./options.ts";

type Decision = Explanation["decision"];

const REASONS: Readonly<Record<Reason, string>> = {
  "mode-observe": "the policy's mode here is observe: measure, and touch no header",
  "mode-fixed-h2": "the policy's mode here is fixed-h2: never offer",
  "mode-fixed-h3": "the policy's mode here is fixed-h3: always offer",
  "kill-switch": "the kill switch is on, whatever the policy says",
  "not-measured": "nobody has measured what the policy's method needs: an RTT, or by zero-lines a loss",
  "h3-faster": "HTTP/3 is expected to be faster, by more than the margin",
  "h2-faster": "HTTP/2 is expected to be faster",
  "within-margin": "the margin decides: by the expected gain alone, the answer would be the other one",
  "quic-loses": "most likely the network drops packets of QUIC alone",
  "own-loads-slower": "this client's own pages were slower over HTTP/3 than the policy says",
  "udp-blocked": "this client was offered HTTP/3 and did not come: most likely no UDP reaches it",
  share: "by the policy's share of clients",
  exploration: "drawn, not predicted: this client explores",
};

/**
 * A decision and everything that explains it, in lines.
 *
 * @param isLookedUp whether the server looked up a client, about whom it may store more than counts
 */
export function explanationText(explanation: Explanation, isLookedUp: boolean): string {
  const { policyVersion, revision, request, history, decision, altSvc, undrawn } = explanation;
  const { mode, reason, propensity, next, saving } = decision;
  const version = `version ${policyVersion}${revision === null ? "" : ` (revision ${revision})`}`;
  return nameList({
    header: headerText(altSvc, reason),
    reason: reasonText(reason),
    "without the draw": undrawn && `${headerText(undrawn.altSvc, undrawn.reason)}; ${reasonText(undrawn.reason)}`,
    policy: `${policyVersion === null ? "that of the file" : version}, in mode ${mode} on ${request.path}`,
    request: requestText(request),
    known: historyText(history, isLookedUp),
    loss: next && lossesText(decision),
    "over HTTP/3": next && gainsText(decision),
    "an offer": saving && worthText(decision),
    chance: `${percent(propensity)} that this policy gives this answer here`,
  });
}

function reasonText(reason: Reason): string {
  // A newer server may have reasons that are not in the table.
  const why: string | undefined = REASONS[reason];
  return `${reason}: ${why ?? "a reason that this program does not know"}`;
}

function lossesText({ lossRatio, quicAlone = 0 }: Decision): string {
  const parts = [
    lossRatio === undefined ? "not known: too few packets were counted" : `${percent(lossRatio)} of all packets`,
    quicAlone >= 0.005 && `the chance that the network drops packets of QUIC alone is ${percent(quicAlone)}`,
  ];
  return parts.filter(Boolean).join("; ");
}

/** `8 % faster`: a gain is the logarithm of a ratio of times. */
function speedText(gain: number): string {
  return `${percent(Math.abs(Math.expm1(gain)))} ${gain < 0 ? "slower" : "faster"}`;
}

/** `8 % faster (give or take 3 %)` */
function expectedText({ gain, deviation }: NonNullable<Decision["next"]>): string {
  return `${speedText(gain)} (give or take ${percent(Math.expm1(deviation))})`;
}

function gainsText({ next, return: again, price, ceiling, ownShift, rttMs, contentBytes }: Decision): string {
  const at = [
    ifGiven(rttMs, (ms) => `with an RTT of ${milliseconds(ms)}`),
    ifGiven(contentBytes, (size) => `pages of ${bytes(size)}`),
  ];
  const parts = [
    ifGiven(next, (gain) => `the next page of this visit is ${expectedText(gain)}`),
    ifGiven(again, (gain) => `a later visit's page is ${expectedText(gain)}`),
    ifGiven(price || undefined, (lost) => `to offer it makes this page ${speedText(-lost)}`),
    ifGiven(
      ceiling || undefined,
      (lost) => `both count that HTTP/3 carries only so much on a fast line: ${speedText(lost)}`,
    ),
    ifGiven(ownShift || undefined, (shift) => `both count this client's own loads: ${speedText(shift)}`),
  ];
  return `${at.filter(Boolean).join(" and ")}: ${parts.filter(Boolean).join("; ")}`;
}

function worthText({ saving, price = 0, pages = 0, returns = 0 }: Decision): string {
  if (saving === undefined || pages + returns === 0) return "changes no page";
  const changed = [
    ...(pages === 0 ? [] : [`${roughly(pages)} next ${pages === 1 ? "page" : "pages"}`]),
    ...(returns < 0.005 ? [] : [`${roughly(returns)} later ${returns === 1 ? "visit" : "visits"}`]),
  ].join(" and ");
  const ofThis = price === 0 ? "" : ", this page's loss counted in";
  return `changes ${changed}, on average, and makes each of them ${expectedText(saving)}${ofThis}`;
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
  if (altSvc === null) return "no alt-svc: the response stays as it is";
  const isTakenBack = altSvc === "clear" && reason !== "kill-switch";
  return `alt-svc: ${altSvc}${isTakenBack ? " (nothing is offered, and an earlier offer may still live)" : ""}`;
}

function historyText({ state, connections = [] }: Explanation["history"], isLookedUp: boolean): string {
  const own = TRANSPORTS.flatMap((transport) => {
    const over = connections.filter((one) => one.transport === transport);
    if (over.length === 0) return [];
    const [packets, lost] = [over.reduce((n, one) => n + one.packets, 0), over.reduce((n, one) => n + one.lost, 0)];
    const lossText = packets === 0 ? "packets not counted" : `${count(lost)} of ${counted(packets, "packet")} lost`;
    return [`${counted(over.length, "connection")} over ${transport.toUpperCase()} (${lossText})`];
  });
  if (own.length > 0) return own.join("; ");
  if (state === "late") return "the look-up came too late";
  return isLookedUp ? "nothing (`look-up` says what is stored)" : "nothing";
}
