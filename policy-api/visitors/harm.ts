import { decide } from "../decision/decide.ts";
import type { Mode, Policy } from "../decision/policy.ts";
import { compare, type Comparison, type GroundsChecked } from "./compare.ts";
import type { Arms, Interval } from "./intervals.ts";
import { sampleRatioOf } from "./sample-ratio.ts";
import { clientsOf, mergeArms, type Sums } from "./sums.ts";

/** What a version's own visitors say against it. */
export interface Harm {
  /** Its offers make pages slower, or keep pages from reporting: visitors leave, or pages fail. */
  readonly kind: "slower" | "fewer-reports";
  /** Of the gain, below 0; or of the share of pages that do not report, above it. Holds however often one looks. */
  readonly interval: Interval;
}

/** RTTs in each class of RTT_CLASS_MS, milliseconds. */
const CLASS_RTTS_MS = [
  [1, 3, 5, 9],
  [10, 15, 20, 29],
  [30, 45, 60, 79],
  [80, 100, 120, 149],
  [150, 200, 300, 600],
] as const;
/** So many fewer reports, as a share of pages, are no harm. */
const FEWER_MIN = 0.01;

/**
 * Looks for harm where a version offers HTTP/3 to new clients: in those classes of RTT, clients that drew an offer are compared
 * with those that drew none. A version that offers it nowhere can do no harm. Each client is in one class. Pure.
 *
 * @param classes What clients of each class add up to
 * @returns whether harm could have shown: there are clients to compare, or the version offers HTTP/3 to no new client
 */
export function harmOf(
  policy: Policy,
  classes: readonly Arms<Sums>[],
  grounds: GroundsChecked,
): { readonly harm: Harm | undefined; readonly isHarmComparable: boolean } {
  const offered = classes.filter((_, rttClass) => offersIn(policy, rttClass));
  if (offered.length === 0) return { harm: undefined, isHarmComparable: true };
  const arms = mergeArms(offered);
  // To which class a client comes may depend on its arm: over HTTP/3 an RTT is measured otherwise.
  const { isUneven } = sampleRatioOf(clientsOf(arms), grounds.sampleRatio.expectedShare);
  if (isUneven || grounds.sampleRatio.isUneven) return { harm: undefined, isHarmComparable: false };
  // Whether something else offers HTTP/3 too may not be known: that makes a harm that shows no smaller.
  const objections = grounds.objections.filter(({ kind }) => kind !== "too-few-new-clients");
  const compared = compare({ ...grounds, objections }, arms);
  return { harm: shownBy(compared), isHarmComparable: compared.effect !== undefined && objections.length === 0 };
}

function shownBy({ claim, missing }: Comparison): Harm | undefined {
  if (claim.kind === "slower") return { kind: "slower", interval: claim.interval };
  if (missing === undefined || missing.difference.low <= FEWER_MIN) return undefined;
  const { low, high } = missing.difference;
  return { kind: "fewer-reports", interval: { low, high } };
}

/** Whether a policy offers HTTP/3 to some client that nobody knows, on some page: by itself, or where one of its rules holds. */
function offersIn(policy: Policy, rttClass: number): boolean {
  const offersAt = (mode: Mode, path: string): boolean => {
    const alone = { ...policy, mode, rules: [] };
    return (CLASS_RTTS_MS[rttClass] ?? []).some((rttMs) => {
      const request = { transport: "tcp", rttMs, path, shareUnit: 0 } as const;
      return decide(request, { state: "unknown" }, alone, 0, undefined).advertise.kind === "h3";
    });
  };
  const routes = policy.contentBytes.routes.map(({ pathPrefix }) => pathPrefix);
  // A fixed mode draws no arms: a comparison of arms says nothing about it.
  return [policy, ...policy.rules.filter(({ mode }) => mode === "adaptive")].some((place) => {
    const prefix = ("pathPrefix" in place ? place.pathPrefix : undefined) ?? "/";
    return [prefix, ...routes.filter((route) => route.startsWith(prefix))].some((path) => offersAt(place.mode, path));
  });
}
