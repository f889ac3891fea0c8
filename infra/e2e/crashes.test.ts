// Only here: kill -9 of a real workerd, with its files on disk.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { callApi } from "../workerd/policy-client.ts";
import { AcknowledgedChanges, type Call } from "./acknowledged-changes.ts";
import { CountedVisits } from "./counted-visits.ts";
import { startTestSystem, TOKEN, until } from "./harness.ts";
import { keptOutcomes } from "./kept-outcomes.ts";

// `npm test` makes ten kills. `npm run test:crashes` makes 200, with longer lives in between, and prints its figures.
const CRASHES = Number(process.env["CRASHES"] ?? 10);
const MANY = CRASHES > 50;
/** The mean time from one kill to the next, milliseconds. */
const LIFE_MS = MANY ? 5_000 : 2_000;
const WRITERS = 3;
/** Between two changes of a writer, milliseconds. */
const PAUSE_MS = MANY ? 300 : 50;

/** News waits in an isolate for up to 10 s. */
const GATHERED_MS = 10_000;
/** The row of a client that comes back waits for up to 10 s after that. */
const WRITTEN_MS = 20_000;
/** One of so many lives is long enough for what its clients did to be written. The kill switch may keep them from it for a time. */
const LIVES_TO_A_LONG_ONE = 10;
/** So many changes must lose their answers, or the kills came between the changes and show nothing. */
const UNANSWERED = Math.floor(CRASHES / 10) + 1;

/** The machine may be busy. */
const LATE_MS = 1_000;

/** Pseudo-random numbers, the same in every run: mulberry32. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

it(
  `${CRASHES} times kill -9 at random moments, during changes and visits, lose no acknowledged change and few samples`,
  { timeout: 60_000 + 3 * CRASHES * (LIFE_MS + 10_000) },
  async () => {
    const startedAtMs = performance.now();
    const system = await startTestSystem();
    const random = seeded(5);
    const call: Call = (method, resource, body, headers) =>
      callApi(system.workerd.visitorsSocket, TOKEN, method, resource, body, headers);
    const changes = new AcknowledgedChanges(call, random);
    const visits = new CountedVisits(system, call);
    visits.begin();

    let inFlight = 0;
    let kills = 0;
    let backAtMs = Date.now();
    // A fast machine answers between the kills, and on a slow one few clients return between them. Both get some more of them.
    const saysEnough = (): boolean => changes.unanswered >= UNANSWERED && visits.ofReturning.visits > CRASHES / 10;
    while (kills < CRASHES || (!saysEnough() && kills < 3 * CRASHES)) {
      kills++;
      const killing = new AbortController();
      const writing = Promise.all(
        Array.from({ length: WRITERS }, async () => {
          while (!killing.signal.aborted) {
            await changes.make();
            await sleep(random() * 2 * PAUSE_MS, undefined, { signal: killing.signal }).catch(() => undefined);
          }
        }),
      );
      // Like the times between the decays of an atom: whatever has just happened, a kill is as likely as ever.
      await sleep(-Math.log(1 - random()) * LIFE_MS);
      if (kills % LIVES_TO_A_LONG_ONE === 0) {
        const isNew = (): true | undefined => keptOutcomes(system.stateDir).lastAtMs > backAtMs || undefined;
        await until("a row with a page that reported", isNew, 4 * WRITTEN_MS);
      }
      // The kill may come before the store takes a change, while it writes it, or as it acknowledges it.
      const oneAfterAnother = (async () => {
        while (!killing.signal.aborted) await changes.make();
      })();
      await sleep(random() * 4);
      killing.abort();
      inFlight += changes.inFlight;
      const killedAtMs = Date.now();
      await system.workerd.crash();
      backAtMs = Date.now();
      await Promise.all([writing, oneAfterAnother]);
      await changes.check();
      await visits.check(killedAtMs);
      keptOutcomes(system.stateDir);
      await changes.repeat();
    }
    await system.workerd.crash();
    await changes.check();
    await visits.end();
    const outcomes = keptOutcomes(system.stateDir);

    const { unanswered, acknowledged } = changes;
    const { pages, broken, reports, lostAround, ofNewcomers, ofAsked, ofReturning } = visits;
    const seconds = Math.round((performance.now() - startedAtMs) / 1000);
    const figures = { pages, broken, reports, outcomes, lostAround, ofNewcomers, ofAsked, ofReturning };
    console.log(JSON.stringify({ kills: kills + 1, seconds, ...acknowledged, inFlight, unanswered, ...figures }));
    // Clients' rows and the sums of outcomes were compared after each kill, and said something.
    expect(outcomes.reported).toBeGreaterThan(0);
    expect(outcomes.left).toBeLessThanOrEqual(visits.visitsOfReturning);
    // Some kills came during a change, so changes could have been lost.
    expect(unanswered).toBeGreaterThanOrEqual(UNANSWERED);
    expect(acknowledged.versions).toBeGreaterThan(CRASHES * 3);
    expect(acknowledged.activations).toBeGreaterThan(CRASHES * 3);
    expect(ofNewcomers.visits).toBeGreaterThan(CRASHES);
    expect(ofNewcomers.oldestMs).toBeLessThan(GATHERED_MS + LATE_MS);
    expect(ofAsked.oldestMs).toBeLessThan(GATHERED_MS + LATE_MS);
    expect(ofReturning.visits).toBeGreaterThan(CRASHES / 10);
    expect(ofReturning.oldestMs).toBeLessThan(WRITTEN_MS + LATE_MS);
  },
);
