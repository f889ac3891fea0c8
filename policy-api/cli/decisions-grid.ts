import type { Advertise } from "../decision/alt-svc.ts";
import { decide, modeFor } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import type { Policy } from "../decision/policy.ts";
import { percent } from "./quantities.ts";
import { table } from "./table.ts";

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
export function offersOnGrid(policy: Policy, where: Where) {
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
export function shareOffered(policy: Policy, where: Where): number {
  const { method } = policy;
  return method?.kind === "share" && modeFor(policy, { transport: "tcp", ...where }) === "adaptive" ? method.share : 1;
}

function answerText(policy: Policy, where: Where, rttMs: number, lossRatio: number | undefined): string {
  const share = shareOffered(policy, where);
  const advertise = answerAt(policy, where, rttMs, lossRatio);
  const answer = advertise.kind === "h3" ? `h3 ${advertise.maS} s` : advertise.kind;
  return share > 0 && share < 1 ? `${percent(share)}: ${answer}` : answer;
}
