import type { GainsMethod, Method, Policy } from "../decision/policy.ts";
import type { VisitProfile } from "../decision/visit.ts";
import { bytes, counted, milliseconds, percent } from "./quantities.ts";
import { lossesText, roughly } from "./readings.ts";
import { nameList } from "./table.ts";

/** What a policy is, in words. */
export function policyText(policy: Policy): string {
  const { mode, method, contentBytes, visit, ma, margin, exploration, reports, rules, source, provenance } = policy;
  const { routes } = contentBytes;
  return nameList({
    mode,
    method: method === undefined ? "none" : methodText(method),
    "a session":
      bytes(contentBytes.default) + (routes.length === 0 ? "" : `, ${counted(routes.length, "route")} of their own`),
    "a new client": method?.kind === "gains" ? mixText(method) : undefined,
    "a visit": visitText(visit),
    "an offer": `lives ${ma.minS} s to ${ma.maxS} s`,
    margin: `an offer begins above a gain of ${margin.enter}, and ends at ${margin.leave}`,
    exploration: exploration.share === 0 ? "none" : `${percent(exploration.share)} of clients`,
    reports:
      reports.share === 0
        ? "none"
        : `the pages of ${percent(reports.share)} of clients, with ${reports.inject ? "a tag that the worker puts in" : "the site's own tag"}`,
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
    case "gains": {
      const { rttMs, lossRatio, contentBytes } = method.table;
      const losses = lossRatio.length === 1 ? "1 loss" : `${lossRatio.length} losses`;
      const axes = `${counted(rttMs.length, "RTT")} x ${losses} x ${counted(contentBytes.length, "size")}`;
      return `gains at ${axes}, of a next page and of a return`;
    }
    case "zero-lines":
      return `zero lines, at ${counted(method.lines.length, "rate")}`;
    case "rtt-threshold":
      return `RTT from ${milliseconds(method.rttMs)} on`;
    case "share":
      return `${percent(method.share)} of clients, whatever their paths`;
  }
}

/** `no loss: 95 %, loss 5 %: 5 % (access lines)` */
function mixText({ table: { lossRatio }, mix, mixAbout }: GainsMethod): string {
  return lossesText(mix, lossRatio) + (mixAbout === undefined ? "" : ` (${mixAbout})`);
}

/** `2.2 pages on average; 0.45 returns` */
function visitText({ pages, returns }: VisitProfile): string {
  const mean = pages.reduce((sum, share, i) => sum + share * (i + 1), 0);
  const back = returns.reduce((sum, { share }) => sum + share, 0);
  return `${roughly(mean)} ${mean === 1 ? "page" : "pages"} on average, and ${percent(back)} come back`;
}
