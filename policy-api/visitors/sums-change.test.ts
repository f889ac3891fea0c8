import { add } from "./testing.ts";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NOON_MS } from "../decision/testing.ts";
import { addDecision, addOutcome, type AssignedClient, type SketchTimes } from "./assigned-client.ts";
import { NO_OUTCOMES, type OutcomeSums } from "./gathered.ts";
import { outcomeOf, type PageDecision } from "./page-outcome.ts";
import {
  addChange,
  changesOf,
  type ClientChange,
  isContinued,
  outcomeId,
  withChange,
  withoutKeys,
} from "./sums-change.ts";
import { NO_SUMS, type Sums } from "./sums.ts";
import { pageDecision, pageReport } from "./testing-pages.ts";

const anyDecision: fc.Arbitrary<PageDecision> = fc
  .record({
    arm: fc.constantFrom("offer" as const, "withhold" as const),
    position: fc.constantFrom("redrawn" as const, "new" as const, "next" as const, "return" as const),
    policyVersion: fc.constantFrom(3, 4),
    period: fc.constantFrom(100, 101),
    place: fc.record({ rtt: fc.nat(2), size: fc.nat(1) }),
    rttMs: fc.constantFrom(5, 50),
    transport: fc.constantFrom("tcp" as const, "quic" as const),
    atMs: fc.integer({ min: NOON_MS, max: NOON_MS + 100 }),
  })
  .map(pageDecision);
const anyClient = fc.nat(3);

/** What a store does: pages change what is in memory, and writes and restarts happen in between. */
const anyStep = fc.oneof(
  fc.record({ kind: fc.constant("page" as const), client: anyClient, decision: anyDecision, loadMs: fc.nat(9_000) }),
  fc.record({ kind: fc.constant("write" as const), clients: fc.uniqueArray(anyClient) }),
  fc.record({ kind: fc.constant("restart" as const) }),
  fc.record({ kind: fc.constant("forget" as const), client: anyClient }),
);

interface InMemory {
  readonly assigned: AssignedClient | undefined;
  readonly waiting: readonly ClientChange[];
}

describe("changes of sums", () => {
  it("leave the sums those of the rows written so far, whatever is written when, and whenever it restarts", () => {
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
        const sums = new Map<string, OutcomeSums>();
        const disk = new Map<number, AssignedClient>();
        /** Rows that ended as they were written last: of an earlier draw, or forgotten. */
        const ended: AssignedClient[] = [];
        let times = 0;
        let memory = new Map<number, InMemory>();
        const known = (client: number): InMemory => memory.get(client) ?? { assigned: disk.get(client), waiting: [] };
        const write = (clients: readonly number[]): void => {
          for (const change of changesOf(clients.flatMap((client) => known(client).waiting))) {
            const id = outcomeId(change);
            sums.set(id, addChange(sums.get(id) ?? NO_OUTCOMES, change));
          }
          for (const client of clients) {
            const { assigned, waiting } = known(client);
            for (const { before, after, times: added } of waiting) {
              if (before !== undefined && !isContinued(before, after)) ended.push(before);
              times += added.reduce((count, { keys }) => count + keys.length, 0);
            }
            if (assigned !== undefined) disk.set(client, assigned);
            memory.set(client, { assigned, waiting: [] });
          }
        };
        for (const step of steps) {
          if (step.kind === "restart") memory = new Map();
          else if (step.kind === "write") write(step.clients);
          else if (step.kind === "forget") {
            const stored = disk.get(step.client);
            if (stored !== undefined) ended.push(stored);
            disk.delete(step.client);
            memory.delete(step.client);
          } else {
            const { client, decision, loadMs } = step;
            const page = outcomeOf(decision, pageReport({ loadMs }), { transport: decision.transport });
            const become = (after: AssignedClient | undefined, added: readonly SketchTimes[]): void => {
              const { assigned: before, waiting } = known(client);
              if (after === undefined || after === before) return;
              memory.set(client, { assigned: after, waiting: withChange(waiting, { before, after, times: added }) });
            };
            become(addDecision(known(client).assigned, decision, undefined), []);
            const reported = addOutcome(known(client).assigned, page, { loadMs: 1000, lcpMs: 1000 }, undefined);
            become(reported.client, reported.times ? [reported.times] : []);
          }
        }
        const expected = new Map<string, Sums>();
        for (const { version, arm, rows } of [...disk.values(), ...ended])
          for (const [key, day] of Object.entries(rows)) {
            const id = outcomeId({ version, arm, key });
            expected.set(id, add(expected.get(id) ?? NO_SUMS, day));
          }
        expect(new Map([...sums].map(([id, one]) => [id, one.sums]))).toEqual(expected);
        // Each time that was written is in the sketches once.
        const inSketches = [...sums.values()].flatMap(({ load }) => load.map(([, pages]) => pages));
        expect(inSketches.reduce((sum, pages) => sum + pages, 0)).toBe(times);
      }),
      { numRuns: 500 },
    );
  });

  it("come once for each key, however many clients change it", () => {
    const of = (rttMs: number) => {
      const after = addDecision(undefined, pageDecision({ arm: "offer", rttMs }), undefined);
      return after === undefined ? [] : [{ before: undefined, after, times: [] }];
    };
    const changes = changesOf([...of(5), ...of(5), ...of(50)]);
    expect(changes.map(({ key, days }) => [key, days.length])).toEqual([
      ["all", 3],
      ["rtt/0", 2],
      ["rtt/2", 1],
    ]);
  });
});

describe("withoutKeys", () => {
  it("takes a client out of sums that are gone, and leaves a client as it is that is in none of them", () => {
    const client = addDecision(undefined, pageDecision({ arm: "offer" }), 7) as AssignedClient;
    expect(Object.keys(withoutKeys(client, ({ key }) => key === "asn/7").rows)).toEqual(["all", "rtt/2"]);
    expect(withoutKeys(client, ({ version }) => version === 4)).toBe(client);
  });
});
