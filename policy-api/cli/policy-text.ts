import type { Policy } from "../decision/policy.ts";
import type { Api } from "./api.ts";
import { count, counted, percent } from "./quantities.ts";
import { table } from "./table.ts";
import { decide, modeFor } from "../decision/decide.ts";
import type { History, RequestFacts } from "../decision/facts.ts";
import { matchStack, stackOf } from "../decision/stack.ts";

/** To whom a policy offers HTTP/3, and who is drawn into arms whatever it expects: one sentence. Pure. */
export function verdictText(name: string, policy: Policy, where: Where): string {
  const others =
    policy.rules.length === 0 ? "" : ` (${counted(policy.rules.length, "rule")} may say otherwise elsewhere)`;
  return `On ${where.path} ${name} offers HTTP/3 ${toWhom(policy, where)}; ${whoIsDrawn(policy, where)}${others}.`;
}

/** The verdict, and a warning if the server's edge knows nothing of what the policy's rules ask for. @throws Failure */
export async function verdictLines(name: string, policy: Policy, where: Where, api: Api): Promise<readonly string[]> {
  const verdict = verdictText(name, policy, where);
  const asksMore = policy.rules.some(({ asn, country }) => asn ?? country);
  if (!asksMore || (await api.probe()).edge !== "adaptive-h3") return [verdict];
  return [verdict, "WARNING: this site's TLS edge knows no country and no asn, so rules by them match no visitor."];
}

/** A warning if the policy was made for another stack than the one that serves: a person should say yes first. @throws Failure */
export async function otherStackText(name: string, policy: Policy, api: Api): Promise<string | undefined> {
  if (stackOf(policy) === undefined) return undefined;
  const { stack } = await (await api.health()).json();
  const match = matchStack(policy, stack);
  return match.kind === "differs" ? `WARNING: ${name} ${match.text}.` : undefined;
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
  if (policy.method?.kind === "share") return `to ${percent(policy.method.share)} of clients, whatever their paths`;
  const cells = answersOf(policy, where);
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
/** Null: a client about whom only the RTT is known. */
const LOSS_RATIOS = [0, 0.005, 0.025, 0.05, null] as const;
/** The packets of about 14 MB: enough to tell a loss of 0.5 % from none. */
const MEASURED = { transport: "tcp", ageMs: 0, packets: 10_000, deliveryRateBps: 25_000_000 } as const;
/** Nothing here depends on the time. */
const NOW_MS = 0;

/** Where a page is, and where its client. */
export type Where = Pick<RequestFacts, "path" | "asn" | "country">;

/** What changes for whom if one policy follows another: for clients measured over TCP, and for an unknown client. Pure. */
export function decisionsGrid(before: Policy, after: Policy, where: Where) {
  const others = answersOf(after, where);
  return answersOf(before, where).map(({ rttMs, lossRatio, text }, i) => ({
    rttMs,
    lossRatio,
    before: text,
    after: others[i]?.text ?? text,
  }));
}

/** What two policies answer on one path. */
type Cell = ReturnType<typeof decisionsGrid>[number];

/** The answers by loss. The answers that change are in the line below, with an arrow. */
export function gridText(cells: readonly Cell[], columns: number): string {
  const rows = LOSS_RATIOS.flatMap((lossRatio) => {
    const row = cells.filter((cell) => cell.lossRatio === lossRatio);
    const name = lossRatio === null ? "unknown client" : lossRatio === 0 ? "no loss" : `loss ${percent(lossRatio)}`;
    const now = [name, ...row.map((cell) => cell.before)];
    if (!row.some(isChanged)) return [now];
    return [now, [" ", ...row.map((cell) => (isChanged(cell) ? `-> ${cell.after}` : " "))]];
  });
  return table(["RTT", ...RTTS_MS.map((rttMs) => `${rttMs} ms`)], rows, columns);
}

export function isChanged({ before, after }: Cell): boolean {
  return before !== after;
}

/** What a policy answers on the grid, and of how many clients where it draws a share of them. Pure. */
function answersOf(policy: Policy, where: Where) {
  const { method } = policy;
  const isDrawn = method?.kind === "share" && modeFor(policy, { transport: "tcp", ...where }) === "adaptive";
  const whose = isDrawn && method.share > 0 && method.share < 1 ? `${percent(method.share)}: ` : "";
  return LOSS_RATIOS.flatMap((lossRatio) =>
    RTTS_MS.map((rttMs) => {
      // The client with the share unit 0 is in every share that is not empty.
      const request: RequestFacts = { transport: "tcp", ...where, rttMs, shareUnit: 0 };
      const history: History =
        lossRatio === null
          ? { state: "unknown" }
          : { state: "known", connections: [{ ...MEASURED, lost: lossRatio * MEASURED.packets, rttMs }] };
      const { advertise } = decide(request, history, policy, NOW_MS, undefined);
      const isOffered = advertise.kind === "h3";
      return { rttMs, lossRatio, isOffered, text: whose + (isOffered ? `h3 ${advertise.maS} s` : advertise.kind) };
    }),
  );
}
