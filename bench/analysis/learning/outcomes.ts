import { ownLoss } from "../../../policy-api/core/belief.ts";
import { nearestPlace } from "../../../policy-api/core/gain-table.ts";
import type { PageDecision, Position } from "../../../policy-api/reports/page-outcome.ts";
import type { Policy } from "../../../policy-api/core/policy.ts";
import { VISIT_GAP_MS } from "../../../policy-api/core/visit.ts";
import { addDecision, addOutcome, type AssignedClient } from "../../../policy-api/outcomes/assigned-client.ts";
import { comparedWith, expectedTimes, type TimesBefore } from "../../../policy-api/outcomes/expected-time.ts";
import { Gathered } from "../../../policy-api/outcomes/gathered.ts";
import type { DrawnArm } from "../../../policy-api/outcomes/outcome-row.ts";
import { addTime, mergeSketches } from "../../../policy-api/outcomes/quantiles.ts";
import { add, sumsJson } from "../../../policy-api/outcomes/sums.ts";
import { NO_OUTCOMES, type Outcomes as Added } from "../../../policy-api/outcomes/sums-change.ts";
import { decisionOf } from "../population/contenders.ts";
import type { Taken } from "../population/play.ts";

/** All outcomes are kept as this version's: what a drawn client is offered does not depend on the policy. */
const VERSION = 1;
const ARMS = ["offer", "withhold"] as const satisfies readonly DrawnArm[];

/** What drawn clients' pages took, added up as a store adds it up, by the store's own functions. */
export class Outcomes {
  readonly #rows = new Map<string, { readonly arm: DrawnArm; readonly key: string; added: Added }>();
  /** The client whose pages come now. */
  #name = "";
  #held: AssignedClient | undefined;
  #lastAtMs = Number.NEGATIVE_INFINITY;

  /** Adds a page of a client. Pages of one client come one after another. */
  add(name: string, arm: DrawnArm, policy: Policy, { asked, ms }: Taken): void {
    if (name !== this.#name) this.flush();
    this.#name = name;
    const position = this.#positionAt(asked.nowMs);
    this.#lastAtMs = asked.nowMs;
    const decision = pageOf(policy, arm, position, asked);
    this.#held = addDecision(this.#held, decision, undefined);
    const rttMs = this.#held?.rttMs ?? decision.rttMs;
    const expected = expectedTimes(decision, this.#before(comparedWith({ rttMs })));
    const outcome = { ...decision, connectMs: 0, ttfbMs: 0, loadMs: ms, h3Bytes: 0, tcpBytes: 0 };
    const { held, times } = addOutcome(this.#held, outcome, expected, undefined);
    this.#held = held;
    for (const key of times?.keys ?? []) {
      const row = this.#row(arm, key);
      row.added = { ...row.added, load: addTime(row.added.load, ms) };
    }
  }

  /** Puts the client whose pages came last into the sums. */
  flush(): void {
    if (this.#held !== undefined)
      for (const [key, day] of Object.entries(this.#held.rows)) {
        const row = this.#row(this.#held.arm, key);
        row.added = { ...row.added, sums: add(row.added.sums, day) };
      }
    this.#held = undefined;
    this.#name = "";
    this.#lastAtMs = Number.NEGATIVE_INFINITY;
  }

  gathered(): Gathered {
    const rows = [...this.#rows.values()].map(({ arm, key, added: { sums, load, lcp } }) => {
      return { version: VERSION, arm, key, sums: sumsJson(sums), load, lcp };
    });
    return new Gathered(VERSION, rows);
  }

  #positionAt(nowMs: number): Position {
    if (this.#held === undefined) return "new";
    return nowMs - this.#lastAtMs < VISIT_GAP_MS ? "next" : "return";
  }

  #before(key: string): TimesBefore {
    const [one, other] = ARMS.map((arm) => this.#rows.get(`${arm} ${key}`)?.added ?? NO_OUTCOMES);
    if (one === undefined || other === undefined) return NO_OUTCOMES;
    return { load: mergeSketches(one.load, other.load), lcp: NO_OUTCOMES.lcp };
  }

  #row(arm: DrawnArm, key: string): { added: Added } {
    const id = `${arm} ${key}`;
    let row = this.#rows.get(id);
    if (row === undefined) {
      row = { arm, key, added: NO_OUTCOMES };
      this.#rows.set(id, row);
    }
    return row;
  }
}

function pageOf(policy: Policy, arm: DrawnArm, position: Position, asked: Taken["asked"]): PageDecision {
  const { transport, rttMs, contentBytes, nowMs } = asked;
  const { belief } = decisionOf(policy, asked);
  const lossRatio = belief && ownLoss(belief);
  const { method } = policy;
  const place = method?.kind === "gains" ? nearestPlace(method.table, { rttMs, contentBytes, lossRatio }) : undefined;
  return {
    policyVersion: VERSION,
    revision: 1,
    arm,
    advertised: arm === "offer" ? "h3" : "nothing",
    propensity: policy.exploration.share / 2,
    position,
    period: 0,
    ...(place === undefined ? {} : { place }),
    transport,
    rttMs,
    contentBytes,
    atMs: nowMs,
  };
}
