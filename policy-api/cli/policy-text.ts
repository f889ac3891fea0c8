import type { Method, Policy } from "../core/policy.ts";
import type { TimesLattice } from "../core/times.ts";
import { bytes, counted, milliseconds, percent } from "./quantities.ts";
import { nameList } from "./table.ts";
import { ifGiven } from "./values.ts";

/** What a policy is, in words. */
export function policyText(policy: Policy): string {
  const { mode, method, contentBytes, coldStart, ma, margin, exploration, rules, source, provenance } = policy;
  const { routes } = contentBytes;
  return nameList({
    mode,
    method: method === undefined ? "none" : methodText(method),
    "a session":
      bytes(contentBytes.default) + (routes.length === 0 ? "" : `, ${counted(routes.length, "route")} of their own`),
    "cold start":
      coldStart.advertise + (coldStart.times === undefined ? "" : `, or by times of ${latticeText(coldStart.times)}`),
    "an offer": `lives ${ma.minS} s to ${ma.maxS} s`,
    margin:
      `begins above ${percent(margin.enter)}, ends at ${percent(margin.leave)}, ` +
      `${counted(margin.standardErrors, "standard error")} either side`,
    exploration: exploration.share === 0 ? "none" : `${percent(exploration.share)} of clients`,
    rules:
      rules.length === 0 ? "none" : `${counted(rules.length, "rule")}: ${rules.map((rule) => rule.mode).join(", ")}`,
    source: source ?? "",
    provenance: provenance ? `${counted(provenance.loads, "load")} over ${counted(provenance.cells, "cell")}` : "none",
    "  stack": provenance?.stack,
    "  congestion": provenance?.congestionControl,
    "  command": provenance?.command,
    "  rows": provenance && `SHA-256 ${provenance.rowsSha256}`,
  });
}

function methodText(method: Method): string {
  switch (method.kind) {
    case "times": {
      const { tcp, quic, switchRoundTrips } = method;
      const parts = [
        tcp && `over TCP ${latticeText(tcp)}`,
        quic && `over QUIC ${latticeText(quic)}`,
        ifGiven(switchRoundTrips, (trips) => `a switch costs ${counted(trips, "round trip")}`),
      ];
      return `times; ${parts.filter(Boolean).join("; ")}`;
    }
    case "zero-lines":
      return `zero lines, at ${counted(method.lines.length, "rate")}`;
    case "rtt-threshold":
      return `RTT from ${milliseconds(method.rttMs)} on`;
    case "share":
      return `${percent(method.share)} of clients, whatever their paths`;
  }
}

/** `360 nodes (6 RTTs x 5 losses x 4 rates x 3 sizes)` */
function latticeText({ rttMs, lossRatio, deliveryRateBps, contentBytes, stayMs }: TimesLattice): string {
  const losses = lossRatio.length === 1 ? "1 loss" : `${lossRatio.length} losses`;
  const measured = `${counted(rttMs.length, "RTT")} x ${losses} x ${counted(deliveryRateBps.length, "rate")}`;
  return `${counted(stayMs.length, "node")} (${measured} x ${counted(contentBytes.length, "size")})`;
}
