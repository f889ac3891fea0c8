import { modeFor } from "../decision/decide.ts";
import type { Policy } from "../decision/policy.ts";
import { offersOnGrid, shareOffered, type Where } from "./decisions-grid.ts";
import { count, counted, percent } from "./quantities.ts";

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
