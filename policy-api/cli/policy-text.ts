import type { GainsMethod, Method, Policy } from "../decision/policy.ts";
import type { VisitProfile } from "../decision/visit.ts";
import { bytes, count, counted, lossesText, milliseconds, percent, roughly } from "./quantities.ts";
import { nameList, table } from "./table.ts";
import { decide, modeFor } from "../decision/decide.ts";
import type { Advertise } from "../decision/alt-svc.ts";
import type { History, RequestFacts } from "../decision/facts.ts";

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

/** To whom a policy offers HTTP/3, and who is drawn into arms whatever it expects: one sentence. Pure. */
export function verdictText(name: string, policy: Policy, where: Where): string {
  const others =
    policy.rules.length === 0 ? "" : ` (${counted(policy.rules.length, "rule")} may say otherwise elsewhere)`;
  return `On ${where.path} ${name} offers HTTP/3 ${toWhom(policy, where)}; ${whoIsDrawn(policy, where)}${others}.`;
}

/** Whom a policy draws on a path: an offer to half of them, none to the others. */
export function drawnShare(policy: Policy, where: Where): number {
  return modeFor(policy, { transport: "tcp", ...where }) === "adaptive" ? policy.exploration.share : 0;
}

function toWhom(policy: Policy, where: Where): string {
  const mode = modeFor(policy, { transport: "tcp", ...where });
  if (mode === "observe") return "to nobody, as it observes";
  if (mode === "fixed-h2") return "to nobody, and takes it back where it may be held";
  if (mode === "fixed-h3") return "to everybody";
  if (policy.method?.kind === "share")
    return `to ${percent(shareOffered(policy, where))} of clients, whatever their paths`;
  const cells = offersOnGrid(policy, where);
  const [fresh, known] = [true, false].map((isFresh) =>
    cells.filter(({ lossRatio }) => (lossRatio === null) === isFresh),
  );
  const offered = (known ?? []).filter(({ isOffered }) => isOffered).length;
  const newOnes = newClients(fresh ?? []);
  if (newOnes === undefined && offered === 0) return "to nobody by what it expects";
  return `${newOnes ?? "to no new client"}, and in ${count(offered)} of ${counted(known?.length ?? 0, "case")} to a client whose loss is known`;
}

/** `to new clients from an RTT of 50 ms on`. Undefined: to none of them. */
function newClients(cells: readonly { readonly rttMs: number; readonly isOffered: boolean }[]): string | undefined {
  const first = cells.findIndex(({ isOffered }) => isOffered);
  if (first < 0) return undefined;
  const rest = cells.slice(first);
  if (!rest.every(({ isOffered }) => isOffered)) {
    const rtts = rest.flatMap(({ rttMs, isOffered }) => (isOffered ? [rttMs] : []));
    return `to new clients at an RTT of ${rtts.join(", ")} ms`;
  }
  return first === 0 ? "to all new clients" : `to new clients from an RTT of ${rest[0]?.rttMs ?? 0} ms on`;
}

function whoIsDrawn(policy: Policy, where: Where): string {
  const share = drawnShare(policy, where);
  if (share === 0) return "nobody is drawn into arms";
  const half = percent(share / 2);
  return `${percent(share)} of its clients are drawn into arms: ${half} are offered it and ${half} are not, whatever is expected`;
}

const RTTS_MS = [5, 25, 50, 100, 200] as const;
/** `undefined`: a client about whom only the RTT is known. */
const LOSS_RATIOS = [0, 0.005, 0.025, 0.05, undefined] as const;
/** The packets of about 14 MB: enough to tell a loss of 0.5 % from none. */
const MEASURED = { transport: "tcp", ageMs: 0, packets: 10_000, deliveryRateBps: 25_000_000 } as const;
/** Nothing here depends on the time. */
const NOW_MS = 0;

/** Where a page is, and where its client. */
export type Where = Pick<RequestFacts, "path" | "asn" | "country">;

/** What changes for whom if one policy follows another: for clients measured over TCP, and for an unknown client. Pure. */
export function decisionsGrid(before: Policy, after: Policy, where: Where) {
  return LOSS_RATIOS.flatMap((lossRatio) =>
    RTTS_MS.map((rttMs) => ({
      rttMs,
      /** Null: an unknown client. */
      lossRatio: lossRatio ?? null,
      before: answerText(before, where, rttMs, lossRatio),
      after: answerText(after, where, rttMs, lossRatio),
    })),
  );
}

/** What two policies answer on one path. */
type Cell = ReturnType<typeof decisionsGrid>[number];

/** The answers by loss. The answers that change are in the line below, with an arrow. */
export function gridText(cells: readonly Cell[], columns: number): string {
  const rows = LOSS_RATIOS.flatMap((lossRatio) => {
    const row = cells.filter((cell) => cell.lossRatio === (lossRatio ?? null));
    const name =
      lossRatio === undefined ? "unknown client" : lossRatio === 0 ? "no loss" : `loss ${percent(lossRatio)}`;
    const now = [name, ...row.map((cell) => cell.before)];
    if (!row.some(isChanged)) return [now];
    return [now, [" ", ...row.map((cell) => (isChanged(cell) ? `-> ${cell.after}` : " "))]];
  });
  return table(["RTT", ...RTTS_MS.map((rttMs) => `${rttMs} ms`)], rows, columns);
}

/** Whether a rule of either policy is for an autonomous system or a country that the answers are not about. */
export function hasRulesElsewhere(before: Policy, after: Policy, { asn, country }: Omit<Where, "path">): boolean {
  return [...before.rules, ...after.rules].some(
    (rule) => (rule.asn !== undefined && asn === undefined) || (rule.country !== undefined && country === undefined),
  );
}

export function isChanged({ before, after }: Cell): boolean {
  return before !== after;
}

/** Where on the grid a policy offers HTTP/3. Null: an unknown client. Pure. */
function offersOnGrid(policy: Policy, where: Where) {
  return LOSS_RATIOS.flatMap((lossRatio) =>
    RTTS_MS.map((rttMs) => ({
      rttMs,
      lossRatio: lossRatio ?? null,
      isOffered: answerAt(policy, where, rttMs, lossRatio).kind === "h3",
    })),
  );
}

function answerAt(policy: Policy, where: Where, rttMs: number, lossRatio: number | undefined): Advertise {
  // The client with the share unit 0 is in every share that is not empty.
  const request: RequestFacts = { transport: "tcp", ...where, rttMs, shareUnit: 0 };
  const history: History =
    lossRatio === undefined
      ? { state: "unknown" }
      : { state: "known", connections: [{ ...MEASURED, lost: lossRatio * MEASURED.packets, rttMs }] };
  return decide(request, history, policy, NOW_MS, undefined).advertise;
}

/** Of how many clients a policy makes the offers that it makes. */
function shareOffered(policy: Policy, where: Where): number {
  const { method } = policy;
  return method?.kind === "share" && modeFor(policy, { transport: "tcp", ...where }) === "adaptive" ? method.share : 1;
}

function answerText(policy: Policy, where: Where, rttMs: number, lossRatio: number | undefined): string {
  const share = shareOffered(policy, where);
  const advertise = answerAt(policy, where, rttMs, lossRatio);
  const answer = advertise.kind === "h3" ? `h3 ${advertise.maS} s` : advertise.kind;
  return share > 0 && share < 1 ? `${percent(share)}: ${answer}` : answer;
}
