import { join } from "node:path";
import { setNetwork } from "../../harness/set-network.ts";
import { runPlan } from "../../lab/k6.ts";
import type { Lane } from "../../lab/lane.ts";
import { BROWSER_PAGES, BROWSER_PREFIX, browserPath, OFFER_PARAMETER } from "../../model/browser-pages.ts";
import { OFFER_ROW, type OfferRow } from "../../model/offer-row.ts";
import type { Load, LoadResult, Page, Session } from "../../model/plan.ts";
import { blankRow } from "../../model/row-schema.ts";
import { pageId, type Visit } from "./schedule.ts";
import { type Answer, RETURN } from "./settings.ts";

/** As many at a time as a browser asks for over one connection. */
const PARALLEL = 100;
const TIMEOUT_MS = 240_000;
const FILES = BROWSER_PAGES.page.map(([kind, bytes], number) => `${BROWSER_PREFIX}${kind}/${bytes}/${number}`);

export interface MeasuringK6 {
  readonly lane: Lane;
  readonly folder: string;
  readonly seed: number;
  readonly signal: AbortSignal;
}

/**
 * Makes the same visit by k6's client, and its return by another session of it: one that begins on HTTP/3 where the last answer
 * was an offer, as Chromium's does. Fewer rows than pages: it was stopped.
 */
export async function measureVisitByK6(visit: Visit, { lane, folder, seed, signal }: MeasuringK6): Promise<OfferRow[]> {
  const { place, treatment } = visit;
  await setNetwork(lane, place.network, seed, visit.id);
  const { edgePids, ...origin } = lane.origin("bare", place.congestion);
  const first = treatment.answers.slice(0, RETURN - 1).map((answer, i) => pageOf(answer, i + 1, treatment.pauseMs));
  const again = pageOf(treatment.answers[RETURN - 1] ?? "none", RETURN, 0);
  const load = (id: string, session: Session): Load => ({
    id,
    clientAddress: lane.freshClient(),
    origin,
    edgePids,
    timeoutMs: TIMEOUT_MS,
    switch: "background",
    parallel: PARALLEL,
    sessions: [session],
  });
  const timed = { timed: true, pauseAfterMs: 0 } as const;
  const rows: OfferRow[] = [];
  await runPlan({
    plan: {
      control: lane.path.control,
      loads: [
        load("visit", { ...timed, firstProtocol: "h2", pages: first }),
        load("return", { ...timed, firstProtocol: remembers(treatment.answers) ? "h3" : "h2", pages: [again] }),
      ],
    },
    file: join(folder, `plan-${lane.index}.json`),
    namespace: lane.clientNamespace,
    signal,
    onResult: async (result) => {
      rows.push(...rowsOf(visit, result));
    },
  });
  return rows;
}

/** Whether a client that was answered so knows of HTTP/3 when it returns. */
export function remembers(answers: readonly Answer[]): boolean {
  return answers.slice(0, RETURN - 1).findLast((answer) => answer !== "none") === "h3";
}

function pageOf(answer: Answer, page: number, pauseAfterMs: number): Page {
  const document = `${browserPath("page")}?${OFFER_PARAMETER}=${answer}&page=${page}`;
  return { document, subresources: FILES, pauseAfterMs };
}

/** A row for each page of a load. */
export function rowsOf({ id, place, treatment, visit }: Visit, result: LoadResult): OfferRow[] {
  const from = result.id === "return" ? RETURN : 1;
  const pages = result.id === "return" ? 1 : RETURN - 1;
  return Array.from({ length: pages }, (_, i) => {
    const loadMs = result.pageMs[i] ?? null;
    const overH3 = result.filesH3[i] ?? 0;
    return blankRow(OFFER_ROW, {
      id: pageId(id, from + i),
      network: place.network.name,
      congestion: place.congestion,
      treatment: treatment.name,
      visit,
      page: from + i,
      startedMs: result.startedMs,
      outcome: loadMs === null ? (result.outcome === "ok" ? "failed" : result.outcome) : "ok",
      error: loadMs === null ? result.error : "",
      loadMs,
      documentProtocol: i === 0 ? result.documentProtocol : "",
      files: loadMs === null ? "" : "2".repeat(FILES.length - overH3) + "3".repeat(overH3),
      busyRatio: result.busyRatio,
      lateRatio: result.lateRatio,
    });
  });
}
