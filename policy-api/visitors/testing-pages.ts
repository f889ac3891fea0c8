// Pages' decisions and reports, for tests of several rooms. Nothing that is deployed imports it.
import { periodAt } from "../decision/assignment.ts";
import type { AskedPage, PageDecision, PageNews } from "./page-outcome.ts";
import { outcomeOf } from "./page-outcome.ts";
import type { PageReport } from "./page-report.ts";
import { NOON_MS } from "../decision/testing.ts";

export function pageDecision(over: Partial<PageDecision> = {}): PageDecision {
  return {
    policyVersion: 3,
    revision: 7,
    arm: "policy",
    advertised: "h3",
    propensity: 1,
    position: "new",
    period: periodAt(NOON_MS),
    transport: "tcp",
    rttMs: 40,
    contentBytes: 1_000_000,
    atMs: NOON_MS,
    ...over,
  };
}

/** The same, of a page that was asked to report. */
export function askedPage(nonce: string, over: Partial<PageDecision> = {}): AskedPage {
  return { ...pageDecision(over), nonce };
}

/** A report in the form in which pages send it, of a page that took 400 ms. */
export function pageReport(over: Partial<PageReport> = {}): PageReport {
  return {
    token: "token",
    protocol: "h2",
    connectMs: 80,
    ttfbMs: 130,
    loadMs: 400,
    atMs: 5_400,
    files: [],
    connections: [],
    ...over,
  };
}

export function pageNews(nonce: string, over: Partial<PageNews> = {}): PageNews {
  return { nonce, outcome: outcomeOf(pageDecision(), pageReport(), { transport: "tcp" }), samples: [], ...over };
}
