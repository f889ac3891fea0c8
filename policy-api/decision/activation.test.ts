import { describe, expect, it } from "vitest";
import {
  type ActivationChange,
  type ActivationState,
  changed,
  dependsOnClient,
  type InForce,
  INITIAL_ACTIVATION,
  isSameState,
  type KillSwitch,
  modesByPath,
  OFFER_LONGEST_MS,
  offersEndMs,
  policyFor,
  type Stage,
  versionsOf,
} from "./activation.ts";
import { type Mode, type Policy, POLICY_OUTDATED_MS } from "./policy.ts";
import { adaptivePolicy, NOON_MS } from "./testing.ts";
import { MemoryActivations } from "./testing-activations.ts";

const put = (everyone: number, ...stages: Stage[]): ActivationChange => ({ kind: "put", everyone, stages });
const kill = (to: KillSwitch | null): ActivationChange => ({ kind: "kill-switch", to });
const rollback: ActivationChange = { kind: "rollback" };
const half: Stage = { version: 2, share: 0.5 };

/** The states after each of several changes. */
function chain(...changes: ActivationChange[]): string[] {
  const store = new MemoryActivations();
  return changes.map((change) => {
    const result = store.change(change, { author: "a", note: null, ifMatch: "*" }, "2026-11-21T12:00:00.000Z");
    if (result.kind !== "changed") return result.kind;
    const { revision, everyone, stages, killSwitch, previousRevision } = result.activation;
    const parts = [everyone, ...stages.map(({ version, share }) => `${version}@${share}`), killSwitch ?? "on"];
    return `r${revision} ${parts.join(" ")} < ${previousRevision}`;
  });
}

describe("changed", () => {
  const cases: [string, ActivationChange[], string[]][] = [
    ["a put", [put(1)], ["r1 1 on < 0"]],
    ["a put with stages", [put(1, half)], ["r1 1 2@0.5 on < 0"]],
    ["nothing is before the beginning", [rollback], ["nothing-before"]],
    ["back to the beginning", [put(1), rollback], ["r1 1 on < 0", "r2 0 on < null"]],
    ["and no further", [put(1), rollback, rollback], ["r1 1 on < 0", "r2 0 on < null", "nothing-before"]],
    [
      "two rollbacks undo two changes, and do not take turns",
      [put(1), put(2), put(3), rollback, rollback],
      ["r1 1 on < 0", "r2 2 on < 1", "r3 3 on < 2", "r4 2 on < 1", "r5 1 on < 0"],
    ],
    [
      "a change after a rollback is undone to what the rollback made",
      [put(1), put(2), rollback, put(3), rollback, rollback],
      ["r1 1 on < 0", "r2 2 on < 1", "r3 1 on < 0", "r4 3 on < 3", "r5 1 on < 0", "r6 0 on < null"],
    ],
    [
      "the kill switch leaves the versions, and a put the kill switch",
      [put(1, half), kill("clear"), put(3), kill("fixed-h2"), kill(null)],
      ["r1 1 2@0.5 on < 0", "r2 1 2@0.5 clear < 1", "r3 3 clear < 2", "r4 3 fixed-h2 < 3", "r5 3 on < 4"],
    ],
    [
      "a rollback takes the kill switch back with it, and puts it on again",
      [put(1), kill("clear"), kill(null), rollback, rollback],
      ["r1 1 on < 0", "r2 1 clear < 1", "r3 1 on < 2", "r4 1 clear < 1", "r5 1 on < 0"],
    ],
    [
      "what changes nothing is no revision",
      [put(1), put(1), kill(null)],
      ["r1 1 on < 0", "r1 1 on < 0", "r1 1 on < 0"],
    ],
  ];
  it.each(cases)("%s", (_name, changes, states) => {
    expect(chain(...changes)).toEqual(states);
  });

  it("where what was before cannot be found there is nothing to go back to", () => {
    const current = { ...INITIAL_ACTIVATION, revision: 7, previousRevision: 6 };
    expect(changed(current, rollback, () => undefined)).toBeUndefined();
    expect(changed(current, put(3), () => undefined)).toEqual({
      everyone: 3,
      stages: [],
      killSwitch: null,
      previousRevision: 7,
    });
  });
});

describe("isSameState", () => {
  const state = (over: Partial<ActivationState> = {}): ActivationState => ({
    everyone: 1,
    stages: [{ version: 2, share: 0.5, pathPrefix: "/a" }],
    killSwitch: null,
    ...over,
  });
  const cases: [string, ActivationState, boolean][] = [
    ["the same", state(), true],
    ["whatever else it has", { ...INITIAL_ACTIVATION, ...state(), note: "n" } as ActivationState, true],
    ["another version", state({ everyone: 2 }), false],
    ["another switch", state({ killSwitch: "clear" }), false],
    ["no stages", state({ stages: [] }), false],
    ["another share", state({ stages: [{ version: 2, share: 0.6, pathPrefix: "/a" }] }), false],
    ["another path", state({ stages: [{ version: 2, share: 0.5, pathPrefix: "/b" }] }), false],
    ["all paths", state({ stages: [{ version: 2, share: 0.5 }] }), false],
    ["another version in the stage", state({ stages: [{ version: 3, share: 0.5, pathPrefix: "/a" }] }), false],
  ];
  it.each(cases)("%s", (_name, other, same) => {
    expect([isSameState(state(), other), isSameState(other, state())]).toEqual([same, same]);
  });

  it("a path that is undefined is no path, and the order of stages counts", () => {
    const stages = [half, { version: 3, share: 1 }];
    expect(isSameState(state({ stages: [half] }), state({ stages: [{ ...half, pathPrefix: undefined }] }))).toBe(true);
    expect(isSameState(state({ stages }), state({ stages: stages.toReversed() }))).toBe(false);
  });
});

const policies: Readonly<Record<number, Policy>> = {
  1: adaptivePolicy(),
  2: adaptivePolicy({ mode: "fixed-h3" }),
  3: adaptivePolicy({ mode: "fixed-h2" }),
  4: adaptivePolicy({ mode: "observe", rules: [{ pathPrefix: "/live/", mode: "fixed-h3" }] }),
  5: adaptivePolicy({ mode: "observe" }),
};
const active = (version: number) => {
  const policy = policies[version];
  return policy === undefined ? { version } : { version, policy };
};
/** Version 9 cannot be read. */
const inForce = (everyone: number, stages: readonly Stage[] = [], over: Partial<InForce> = {}): InForce => ({
  revision: 1,
  sinceMs: 0,
  everyone: active(everyone),
  stages: stages.map((stage) => ({ ...stage, ...active(stage.version) })),
  killSwitch: null,
  earlierOffersUntilMs: 0,
  ...over,
});

describe("policyFor", () => {
  const shop: Stage = { version: 2, share: 1, pathPrefix: "/shop/" };
  const some: Stage = { version: 3, share: 0.05 };
  const cases: [string, Stage[], string, number | undefined, number, boolean][] = [
    ["no stage", [], "/", 0, 1, false],
    ["a path", [shop], "/shop/1", undefined, 2, false],
    ["its prefix itself", [shop], "/shop/", undefined, 2, false],
    ["not what only begins alike", [shop], "/shop", undefined, 1, false],
    ["paths are as they are written", [shop], "/Shop/1", undefined, 1, false],
    ["a share: in it", [some], "/", 0.049, 3, true],
    ["a share: its end is outside", [some], "/", 0.05, 1, true],
    ["a share: nobody can be told from another", [some], "/", undefined, 1, true],
    ["a share of 0 is nobody", [{ ...some, share: 0 }], "/", 0, 1, false],
    ["a share of 1 is everybody", [{ ...some, share: 1 }], "/", undefined, 3, false],
    ["a share of 1 is everybody, the last one too", [{ ...some, share: 1 }], "/", 1, 3, false],
    ["a share on a path: both", [{ ...some, pathPrefix: "/shop/" }], "/shop/1", 0.01, 3, true],
    ["a share on a path: elsewhere", [{ ...some, pathPrefix: "/shop/" }], "/", 0.01, 1, false],
    ["the first that matches counts", [some, shop], "/shop/1", 0.01, 3, true],
    ["the first that matches counts, and then the next", [some, shop], "/shop/1", 0.5, 2, true],
    ["what comes after all cannot count", [shop, some], "/shop/1", 0.01, 2, false],
    ["but does elsewhere", [shop, some], "/", 0.01, 3, true],
  ];
  it.each(cases)("%s", (_name, stages, path, unit, version, depends) => {
    const state = inForce(1, stages);
    expect(policyFor(state, path, unit)).toMatchObject(active(version));
    expect(dependsOnClient(state, path)).toBe(depends);
  });

  it("a version that cannot be read is for those that it is for, and for no others", () => {
    const state = inForce(1, [{ version: 9, share: 0.5 }]);
    expect(policyFor(state, "/", 0.4)).toEqual({ version: 9, share: 0.5 });
    expect(policyFor(state, "/", 0.6)).toEqual(active(1));
  });
});

describe("versionsOf", () => {
  it.each([
    [0, [], [0]],
    [3, [2, 3, 2], [3, 2]],
  ])("%i and %j", (everyone, staged, versions) => {
    const stages = staged.map((version) => ({ version, share: 1 }));
    expect(versionsOf({ everyone, stages, killSwitch: null })).toEqual(versions);
  });
});

describe("modesByPath", () => {
  const cases: [string, number, Stage[], Mode[]][] = [
    ["one policy for all paths", 2, [], []],
    ["a share alone: a client has one policy on all paths", 2, [half], []],
    ["a path", 3, [{ version: 2, share: 1, pathPrefix: "/a" }], ["fixed-h2", "fixed-h3"]],
    ["a path for a share", 3, [{ version: 1, share: 0.1, pathPrefix: "/a" }], ["fixed-h2", "adaptive"]],
    ["all of them, once", 3, [half, { version: 3, share: 1, pathPrefix: "/a" }], ["fixed-h2", "fixed-h3"]],
    ["their rules too", 4, [{ version: 3, share: 1, pathPrefix: "/a" }], ["observe", "fixed-h3", "fixed-h2"]],
    ["but not what cannot be read", 3, [{ version: 9, share: 1, pathPrefix: "/a" }], ["fixed-h2"]],
  ];
  it.each(cases)("%s", (_name, everyone, stages, modes) => {
    expect(modesByPath(inForce(everyone, stages))).toEqual(modes);
  });
});

describe("offersEndMs", () => {
  const livesMs = 100_000 + POLICY_OUTDATED_MS;
  const cases: [string, InForce, number][] = [
    ["fixed-h3", inForce(2), livesMs],
    ["adaptive", inForce(1), livesMs],
    ["fixed-h2", inForce(3), 0],
    ["observe", inForce(5), 0],
    ["observe with a rule that offers", inForce(4), livesMs],
    ["a stage that offers", inForce(5, [{ version: 2, share: 0.01 }]), livesMs],
    ["what offers while the kill switch is on", inForce(2, [], { killSwitch: "fixed-h2" }), 0],
    ["a version that cannot be read", inForce(5, [{ version: 9, share: 0.01 }]), OFFER_LONGEST_MS + POLICY_OUTDATED_MS],
    ["one that cannot be read, killed", inForce(9, [], { killSwitch: "clear" }), 0],
  ];
  it.each(cases)("%s", (_name, state, livesStillMs) => {
    expect(offersEndMs(state, NOON_MS)).toBe(livesStillMs === 0 ? 0 : NOON_MS + livesStillMs);
  });

  it("an offer of before may live longer than all of these, or less long", () => {
    const until = (earlierMs: number) =>
      offersEndMs(inForce(2, [], { earlierOffersUntilMs: NOON_MS + earlierMs }), NOON_MS);
    expect([until(livesMs - 1), until(livesMs + 1)]).toEqual([NOON_MS + livesMs, NOON_MS + livesMs + 1]);
  });
});
