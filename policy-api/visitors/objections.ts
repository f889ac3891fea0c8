import type { Arms, Interval } from "./arms.ts";
import { CLIENTS_MIN } from "./confidence-sequence.ts";

/** Why no effect may be claimed. */
export type Objection =
  /** An arm has too few clients for an interval. */
  | { readonly kind: "too-few-clients"; readonly clients: Arms<number> }
  /** The arms do not have the numbers of clients that their shares let expect: who is counted depends on the arm. */
  | { readonly kind: "sample-ratio"; readonly share: number; readonly expectedShare: number }
  /** Too few new clients reported to tell whether something else offers HTTP/3. */
  | { readonly kind: "too-few-new-clients"; readonly clients: number }
  /** New clients that were not offered HTTP/3 use it: something else offers it. */
  | { readonly kind: "offered-elsewhere"; readonly share: number }
  /** The interval holds 0. */
  | { readonly kind: "not-shown"; readonly interval: Interval }
  /** One arm's pages report less often, and the pages that are missing could have made the effect. */
  | { readonly kind: "reports-differ"; readonly missing: Arms<number>; readonly interval: Interval };

export const OBJECTIONS = [
  "too-few-clients",
  "sample-ratio",
  "too-few-new-clients",
  "offered-elsewhere",
  "not-shown",
  "reports-differ",
] as const satisfies readonly Objection["kind"][];

/** Above this share of HTTP/3 on withheld clients' first pages, something else offers it. */
export const ELSEWHERE_MAX = 0.05;

/** An objection as a sentence. */
export function objectionText(objection: Objection): string {
  switch (objection.kind) {
    case "too-few-clients": {
      const { offered, withheld } = objection.clients;
      return `There are ${offered} clients that were offered HTTP/3 and ${withheld} that were not; each arm needs ${CLIENTS_MIN} whose pages reported.`;
    }
    case "sample-ratio":
      return `${percent(objection.share)} of the clients were offered HTTP/3, where ${percent(objection.expectedShare)} were to be: whether a client is counted depends on its arm.`;
    case "too-few-new-clients":
      return `${objection.clients} new clients that were not offered HTTP/3 have reported; it takes ${CLIENTS_MIN} to tell whether something else offers it.`;
    case "offered-elsewhere":
      return `${percent(objection.share)} of the first pages of new clients that were not offered HTTP/3 came over it (more than ${percent(ELSEWHERE_MAX)}): something else offers it.`;
    case "not-shown":
      return `The interval holds 0: ${intervalText(objection.interval)}.`;
    case "reports-differ": {
      const { offered, withheld } = objection.missing;
      return `Of those offered ${percent(offered)} of the pages did not report, of the others ${percent(withheld)}. With what is missing the interval holds 0: ${intervalText(objection.interval)}.`;
    }
  }
}

function intervalText({ low, high }: Interval): string {
  return `${low.toFixed(3)} to ${high.toFixed(3)}`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}
