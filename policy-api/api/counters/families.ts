import { REASONS } from "../../decision/decide.ts";
import { LOSS_NODES } from "../../decision/loss-nodes.ts";
import { TRANSPORTS } from "../../decision/sample.ts";
import { ADVERTISED, ARMS } from "../../visitors/page-outcome.ts";

/** Lower bounds of classes of RTT, milliseconds: each is about 1.5 times as long as the one before. */
export const RTT_BOUNDS_MS = [0, 5, 10, 20, 30, 50, 80, 120, 180, 270, 400] as const;

/** A label of a figure that is not known. */
export const UNKNOWN = "unknown";

/**
 * What a deployment counts: families, the labels of each in their order, and the values that a label may have. Nothing that a
 * visitor sends is a label, so there are never more figures than these lists make.
 */
export const FAMILIES = {
  decisions: {
    help: "Pages that were decided about; clear: takes back any earlier offer, said as a precaution too",
    labels: {
      reason: REASONS,
      answer: ADVERTISED,
      arm: ARMS,
      transport: TRANSPORTS,
      /** Whether the look-up had not come when the response had to go. */
      late: ["no", "yes"],
    },
  },
  undecided: { help: "Pages about which nothing was said, because no policy was at hand in time", labels: {} },
  clients_seen: {
    help: "Pages by what was known of the client's path: the class of its RTT, and its loss where its packets were counted",
    labels: {
      rtt_ms: [...RTT_BOUNDS_MS.map(String), UNKNOWN],
      loss: [...LOSS_NODES.map(String), UNKNOWN],
      answer: ADVERTISED,
    },
  },
  look_ups: { help: "Look-ups of clients, by who was asked", labels: { from: ["store", "memory", "nearby"] } },
  look_ups_failed: { help: "Look-ups that the store answered with an error", labels: {} },
  offers: { help: "Pages that showed what became of an earlier offer", labels: { fate: ["taken", "ignored"] } },
  origin: {
    help: "What the origin answered to pages; error: a status of 500 and more, or no answer",
    labels: { answer: ["served", "error"] },
  },
  samples: { help: "Readings that the TLS edge posted", labels: { fate: ["taken", "faulty"] } },
  batches_refused: {
    help: "Batches of readings of which none was read, by cause; unready: the worker had no policy yet",
    labels: { cause: ["too-long", "malformed", "unready"] },
  },
  /**
   * `accepted` ones passed every check of an isolate and went to the object, which then refuses those that it counted before (`replayed`)
   * and those beyond a client's share (`crowded`, which an isolate says too where too many wait to be told).
   */
  reports: {
    help: "Reports of pages, by what became of them",
    labels: {
      fate: [
        "accepted",
        "replayed",
        "crowded",
        /** More bytes than a report has, or a request that broke off. */
        "oversized",
        "broken",
        /** From a page of another site. */
        "cross-site",
        /** No report. */
        "malformed",
        /** This deployment did not write its token, or wrote it for another client; or it has none, and no rule drew its client. */
        "unsigned",
        "late",
        /** Figures that no page of this decision can show. */
        "absurd",
        /** No address that can be believed, or no key yet. */
        "unready",
      ],
    },
  },
  /** A reading, an answer, a page's report, or a page that was asked for one. */
  news_dropped: {
    help: "Readings, answers and pages that did not reach the store, by cause",
    labels: {
      cause: [
        /** The isolate holds as many clients as it can. */
        "full",
        /** And its network has its share of them. */
        "network-full",
        /** Its client gave way to one of a less crowded network. */
        "gave-way",
        /** Its client has newer readings or answers, as many as wait. */
        "older",
        /** Its client has as many reports as wait. Most are refused before, as `crowded` reports. */
        "page",
        /** Its client has as many pages that were asked. Where that is known in time, the page is not asked. */
        "asked-page",
      ],
    },
  },
} as const satisfies Record<string, { help: string; labels: Record<string, readonly string[]> }>;

export type Family = keyof typeof FAMILIES;
type LabelsOf<F extends Family> = (typeof FAMILIES)[F]["labels"];
/** The labels of a family, with their values. */
export type Labels<F extends Family> = {
  readonly [L in keyof LabelsOf<F>]: LabelsOf<F>[L] extends readonly (infer V)[] ? V : never;
};

/** A family and its labels as one text, in which they are counted: `decisions|h3-faster|h3|policy|tcp|no`. */
export type Key = string;

/** The key of these labels. */
export function keyOf<F extends Family>(family: F, labels: Labels<F>): Key {
  let key: string = family;
  for (const label in FAMILIES[family].labels) key += `|${String(labels[label as keyof Labels<F>])}`;
  return key;
}

/** The family and the labels of a key; undefined for a text that is no key, such as one of another release. Never throws. */
export function readKey(key: Key): { family: Family; labels: Record<string, string> } | undefined {
  const [name = "", ...values] = key.split("|");
  if (!Object.hasOwn(FAMILIES, name)) return undefined;
  const family = name as Family;
  const known = Object.entries<readonly string[]>(FAMILIES[family].labels);
  const isKnown = values.length === known.length && known.every(([, allowed], i) => allowed.includes(values[i] ?? ""));
  return isKnown
    ? { family, labels: Object.fromEntries(known.map(([label], i) => [label, values[i] ?? ""])) }
    : undefined;
}

/** The class of an RTT: its lower bound. */
export function rttClass(rttMs: number | undefined): string {
  if (rttMs === undefined || !(rttMs >= 0)) return UNKNOWN;
  let found = 0;
  for (const bound of RTT_BOUNDS_MS) if (rttMs >= bound) found = bound;
  return String(found);
}

/** The class of a loss, 0 to 1: the nearest of the gain table's, by their difference. */
export function lossClass(loss: number | undefined): string {
  if (loss === undefined || !(loss >= 0)) return UNKNOWN;
  let found: number = LOSS_NODES[0];
  for (const node of LOSS_NODES) if (Math.abs(node - loss) < Math.abs(found - loss)) found = node;
  return String(found);
}
