// What must hold for every sequence of changes of the activation, and for every interleaving of writers.
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  type ActivationChange,
  dependsOnClient,
  INITIAL_ACTIVATION,
  isSameState,
  KILL_SWITCHES,
  policyFor,
  type Stage,
} from "./activation.ts";
import { faultsOfWriters, MemoryActivations, type WriterStep } from "./testing-activations.ts";

const NOON = "2026-11-21T12:00:00.000Z";

const unit = fc.constantFrom(0, 0.05, 0.1, 0.5, 0.999, 1);
const stage: fc.Arbitrary<Stage> = fc.record(
  { version: fc.nat(6), share: unit, pathPrefix: fc.constantFrom("/", "/a/", "/a/b/") },
  { requiredKeys: ["version", "share"] },
);
const put: fc.Arbitrary<ActivationChange> = fc.record({
  kind: fc.constant("put" as const),
  everyone: fc.nat(6),
  stages: fc.array(stage, { maxLength: 3 }),
});
const kill: fc.Arbitrary<ActivationChange> = fc.record({
  kind: fc.constant("kill-switch" as const),
  to: fc.constantFrom(...KILL_SWITCHES, null),
});
const rollback: ActivationChange = { kind: "rollback" };
const change = fc.oneof(put, kill, fc.constant(rollback));
const request = { author: "a", note: null, ifMatch: "*" as const };

it("a rollback undoes exactly one change, wherever it comes", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), fc.oneof(put, kill), (before, one) => {
      const store = new MemoryActivations();
      for (const earlier of before) store.change(earlier, request, NOON);
      const was = store.current;
      store.change(one, request, NOON);
      const isRevision = store.current !== was;
      const undone = store.change(rollback, request, NOON);
      if (!isRevision) return;
      expect(undone.kind).toBe("changed");
      expect(isSameState(store.current, was)).toBe(true);
      // A further rollback returns to the same as it would have done before the change.
      expect(store.current.previousRevision).toBe(was.previousRevision);
    }),
  );
});

it("as many rollbacks as there were changes lead back to the start, through all states, and not beyond", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(put, kill), { maxLength: 12 }), (changes) => {
      const store = new MemoryActivations();
      for (const one of changes) store.change(one, request, NOON);
      const states = [...store.revisions];
      for (const was of states.slice(0, -1).toReversed()) {
        store.change(rollback, request, NOON);
        expect(isSameState(store.current, was)).toBe(true);
      }
      expect(store.change(rollback, request, NOON)).toEqual({ kind: "nothing-before" });
      expect(isSameState(store.current, INITIAL_ACTIVATION)).toBe(true);
      expect(store.current.revision).toBe(2 * (states.length - 1));
    }),
  );
});

it("whatever comes, no revision is lost or altered, and each points to one before it", () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const store = new MemoryActivations();
      for (const one of changes) {
        const before = structuredClone(store.revisions);
        store.change(one, request, NOON);
        expect(store.revisions.slice(0, before.length)).toEqual(before);
      }
      for (const { revision, previousRevision } of store.revisions)
        expect(previousRevision ?? -1).toBeLessThan(revision);
      expect(store.page({ limit: 100 }).items.map(({ revision }) => revision)).toEqual(
        Array.from({ length: store.revisions.length - 1 }, (_, i) => store.revisions.length - 1 - i),
      );
    }),
  );
});

const step: fc.Arbitrary<WriterStep> = fc.oneof(
  fc.record({ writer: fc.nat(3), does: fc.constant("read" as const) }),
  fc.record({
    writer: fc.nat(3),
    does: fc.constantFrom("write" as const, "write" as const, "write" as const, "write-whatever" as const),
    change,
  }),
);
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 12 });

/** A store that answers later: the scheduler chooses the order of its steps. */
function scheduled(store: MemoryActivations, scheduler: fc.Scheduler) {
  return {
    activation: async () => {
      await scheduler.schedule(Promise.resolve());
      return store.current;
    },
    activations: async () => store.page({ limit: 1000 }),
    change: async (...[one, by]: [ActivationChange, Parameters<MemoryActivations["change"]>[1]]) => {
      await scheduler.schedule(Promise.resolve());
      return store.change(one, by, NOON);
    },
  };
}

it("of writers that have read the same revision one wins, whatever the interleaving, and nothing acknowledged is lost", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, fc.scheduler(), async (steps, scheduler) => {
      const store = scheduled(new MemoryActivations((version) => (version < 6 ? undefined : { version })), scheduler);
      expect(await scheduler.waitFor(faultsOfWriters(store, steps))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

/** Stores with one fault each. A check that does not find these faults would not find others either. */
const wrong: [string, (store: MemoryActivations) => MemoryActivations["change"]][] = [
  ["takes every write", (store) => (one, by, at) => store.change(one, { ...by, ifMatch: "*" }, at)],
  [
    "acknowledges what it does not keep",
    (store) => (one, by, at) => {
      const result = store.change(one, by, at);
      if (store.revisions.length === 4) store.revisions.pop();
      return result;
    },
  ],
  [
    "writes over what another has written",
    (store) => (one, by, at) => {
      const result = store.change(one, by, at);
      if (store.revisions.length > 3) store.revisions.splice(-2, 1);
      return result;
    },
  ],
  [
    "refuses whoever is on time",
    (store) => (one, by, at) =>
      store.current.revision === 2
        ? { kind: "precondition-failed", current: store.current }
        : store.change(one, by, at),
  ],
  [
    "tells of a revision of before",
    (store) => (one, by, at) => {
      const result = store.change(one, by, at);
      return result.kind === "precondition-failed" ? { ...result, current: INITIAL_ACTIVATION } : result;
    },
  ],
];
it.each(wrong)("a store that %s is found out", async (_name, brokenBy) => {
  const found = await fc.check(
    fc.asyncProperty(rounds, async (steps) => {
      const store = new MemoryActivations();
      const broken = brokenBy(store);
      const faults = await faultsOfWriters(
        {
          activation: async () => store.current,
          activations: async () => store.page({ limit: 1000 }),
          change: async (one, by) => broken(one, by, NOON),
        },
        steps,
      );
      return faults.length === 0;
    }),
    { numRuns: 500, seed: 1 },
  );
  expect(found.failed).toBe(true);
});

it("a client's unit is asked for only where it can matter, and a share that grows keeps who was in it", () => {
  const inForce = fc.array(stage, { maxLength: 4 }).map((stages) => ({
    ...INITIAL_ACTIVATION,
    everyone: { version: 7 },
    // Each has its own version, so that they can be told apart.
    stages: stages.map((one, i) => ({ ...one, version: i })),
    earlierOffersUntilMs: 0,
    sinceMs: 0,
  }));
  const path = fc.constantFrom("/", "/a/", "/a/b/c", "/c");
  const client = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  fc.assert(
    fc.property(inForce, path, fc.array(client, { minLength: 1 }), (state, document, units) => {
      const version = (one: number | undefined): number => policyFor(state, document, one).version;
      const depends = dependsOnClient(state, document);
      expect(version(0) !== version(undefined)).toBe(depends);
      if (!depends) expect(new Set(units.map(version))).toEqual(new Set([version(undefined)]));
      const [first] = state.stages;
      if (first === undefined) return;
      const grown = { ...state, stages: [{ ...first, share: Math.min(1, first.share * 2) }, ...state.stages.slice(1)] };
      for (const one of units)
        if (version(one) === first.version) expect(policyFor(grown, document, one).version).toBe(first.version);
    }),
  );
});
