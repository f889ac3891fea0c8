import { runDurableObjectAlarm } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientReport } from "../durable/client-report.ts";
import { bindings, freshStorage } from "../durable/testing.ts";
import { ASSIGNMENT_MS, type DrawnArm, periodAt } from "../policy-api/decision/assignment.ts";
import { INITIAL_POLICY, type Policy } from "../policy-api/decision/policy.ts";
import { Gathered, type OutcomeRow } from "../policy-api/visitors/gathered.ts";
import { outcomeOf } from "../policy-api/visitors/page-outcome.ts";
import { resultsOf } from "../policy-api/visitors/results.ts";
import { EVERYWHERE } from "../policy-api/visitors/row-keys.ts";
import { askedPage, pageReport } from "../policy-api/visitors/testing-pages.ts";
import { numbers } from "../policy-api/visitors/testing.ts";
import { GATHER_MS } from "./report-buffer.ts";

freshStorage();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: (periodAt(Date.now()) + 1.2) * ASSIGNMENT_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

const VERSION = 3;
/** Isolates at any of which a page's decision and its report may come. */
const ISOLATES = 6;
/** Pages a second at the object. */
const RATE = 20;
const RTT_MS = 40;
/** From the load event to the report (worker/reporter/page). */
const REPORT_AFTER_MS = 5_000;

interface Played {
  readonly clients: number;
  /** How long a page of an arm takes. */
  readonly loadMs: Readonly<Record<DrawnArm, number>>;
  /** When its visitor leaves, after the load event. Then the page reports at once. */
  readonly leftMs?: number | undefined;
}

/**
 * Pages of clients that come once. Each isolate hands over every ten seconds what it has, as it does where a call failed and everything
 * waits for the next one.
 *
 * @returns what the object has of them.
 */
async function played({ clients, loadMs, leftMs }: Played): Promise<Gathered> {
  const object = bindings.PATHS.get(bindings.PATHS.idFromName("local:0"));
  const draw = numbers(7);
  const phasesMs = Array.from({ length: ISOLATES }, () => draw() * GATHER_MS);
  const arriving = new Map<number, ClientReport[]>();
  const tell = (atMs: number, client: string, news: Pick<ClientReport, "decided" | "pages">): void => {
    const phaseMs = phasesMs[Math.floor(draw() * ISOLATES)] ?? 0;
    const arrivesMs = phaseMs + GATHER_MS * Math.ceil((atMs - phaseMs) / GATHER_MS);
    const report = { client, network: `n${client}`, samples: [], answers: [], ...news };
    arriving.set(arrivesMs, [...(arriving.get(arrivesMs) ?? []), report]);
  };
  const beganMs = Date.now();
  for (let i = 0; i < clients; i++) {
    const client = `c${i}`;
    const arm = i % 2 === 0 ? "offer" : "withhold";
    const atMs = Math.round(beganMs + (i * 1_000) / RATE);
    const place = { rtt: 3, size: 1 };
    const over = { policyVersion: VERSION, arm, rttMs: RTT_MS, place, atMs, period: periodAt(atMs) } as const;
    const { nonce, ...decision } = askedPage(client, over);
    // Pages of one arm differ.
    const tookMs = loadMs[arm] * Math.exp(0.2 * (draw() + draw() - 1));
    const outcome = outcomeOf(decision, pageReport({ loadMs: tookMs }), { transport: "tcp" });
    tell(atMs, client, { decided: [{ ...decision, nonce }] });
    tell(atMs + (leftMs ?? tookMs + REPORT_AFTER_MS), client, { pages: [{ nonce, outcome, samples: [] }] });
  }
  for (const [atMs, reports] of [...arriving].toSorted(([one], [other]) => one - other)) {
    vi.setSystemTime(atMs);
    await object.record(reports);
  }
  vi.setSystemTime(Date.now() + GATHER_MS);
  await runDurableObjectAlarm(object);
  return new Gathered(VERSION, (await object.outcomes(VERSION)) as unknown as OutcomeRow[]);
}

/** The share of decided pages whose report did not count. */
function lostIn(gathered: Gathered): number {
  const { offered, withheld } = gathered.of(EVERYWHERE);
  const [decided, reported] = [offered, withheld].reduce(
    ([pages, reports], { sums }) => [pages + Number(sums.assigned.clients), reports + Number(sums.load.clients)],
    [0, 0],
  ) as [number, number];
  return 1 - reported / decided;
}

describe("pages that report before their decision is at the object", () => {
  it.each([
    ["of no time at all", 1, undefined],
    ["of 1.2 s", 1_200, undefined],
    ["that are left after 3 s", 500, 3_000],
  ])("lose no report: pages %s", async (_name, ms, leftMs) => {
    const gathered = await played({ clients: 1_000, loadMs: { offer: ms, withhold: ms }, leftMs });
    expect(lostIn(gathered)).toBe(0);
  });

  it("do not make a version harmful that halves their time", async () => {
    const policy: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "rtt-threshold", rttMs: 1 } };
    const gathered = await played({ clients: 4_000, loadMs: { offer: 2_000, withhold: 4_000 } });
    const { harm, everyone } = resultsOf(gathered, policy, { asked: 1, answered: 1 });
    expect(harm).toBeUndefined();
    expect(everyone.load.claim).toMatchObject({ kind: "faster" });
    const { offered, withheld } = everyone;
    expect([offered.reported, withheld.reported]).toEqual([offered.counted, withheld.counted]);
  });
});
