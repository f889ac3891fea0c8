import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { policyFor } from "../decision/activation.ts";
import { type Assignment, isForEveryone, rolledOut, type Rollout } from "./activation-text.ts";

const SHOP = { version: 2, share: 0.5, pathPrefix: "/shop/" };
const SOME = { version: 3, share: 0.1 };
const BEFORE: Assignment = { everyone: 1, stages: [SHOP, SOME] };

describe("rolledOut", () => {
  it.each<readonly [string, Rollout, Assignment]>([
    ["everyone: all stages end", { version: 5 }, { everyone: 5, stages: [] }],
    [
      "a share takes the place of a share",
      { version: 5, share: 0.05 },
      { everyone: 1, stages: [SHOP, { version: 5, share: 0.05 }] },
    ],
    ["a whole share is everyone, and paths stay", { version: 5, share: 1 }, { everyone: 5, stages: [SHOP] }],
    ["no share ends a stage", { version: 5, share: 0 }, { everyone: 1, stages: [SHOP] }],
    [
      "a path takes the place of the same path",
      { version: 5, pathPrefix: "/shop/" },
      { everyone: 1, stages: [{ version: 5, share: 1, pathPrefix: "/shop/" }, SOME] },
    ],
    [
      "a longer path counts first",
      { version: 5, share: 0.2, pathPrefix: "/shop/new/" },
      { everyone: 1, stages: [{ version: 5, share: 0.2, pathPrefix: "/shop/new/" }, SHOP, SOME] },
    ],
    [
      "no share of a path ends its stage",
      { version: 5, share: 0, pathPrefix: "/shop/" },
      { everyone: 1, stages: [SOME] },
    ],
  ])("%s", (_, rollout, after) => {
    expect(rolledOut(BEFORE, rollout)).toEqual(after);
  });
});

it.each<readonly [Rollout, boolean]>([
  [{ version: 1 }, true],
  [{ version: 1, share: 1 }, true],
  [{ version: 1, pathPrefix: "/" }, true],
  [{ version: 1, share: 0.99 }, false],
  [{ version: 1, share: 0 }, false],
  [{ version: 1, pathPrefix: "/shop/" }, false],
])("isForEveryone %j: %s", (rollout, expected) => {
  expect(isForEveryone(rollout)).toBe(expected);
});

const path = fc.constantFrom("/", "/a/", "/a/b/", "/a/b/c/", "/b/");
const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const rollout: fc.Arbitrary<Rollout> = fc.record({
  version: fc.nat(5),
  share: fc.option(fc.constantFrom(0, 0.05, 0.5, 1), { nil: undefined }),
  pathPrefix: fc.option(path, { nil: undefined }),
});
/** What rollouts lead to. */
const assignment = fc
  .array(rollout, { maxLength: 8 })
  .map((rollouts) => rollouts.reduce<Assignment>(rolledOut, { everyone: 0, stages: [] }));

/** The version that a client gets for a document. */
function versionFor({ everyone, stages }: Assignment, document: string, client: number): number {
  const inForce = { revision: 1, everyone: { version: everyone }, stages, killSwitch: null, earlierOffersUntilMs: 0 };
  return policyFor(inForce, document, client).version;
}

describe("whatever was rolled out before", () => {
  it("a rollout reaches its share of clients on its path", () => {
    fc.assert(
      fc.property(assignment, rollout, unit, (before, change, client) => {
        fc.pre(change.pathPrefix !== undefined && client < (change.share ?? 1));
        expect(versionFor(rolledOut(before, change), change.pathPrefix ?? "/", client)).toBe(change.version);
      }),
    );
  });

  it("a rollout on a path changes nothing on others", () => {
    fc.assert(
      fc.property(assignment, rollout, path, unit, (before, change, document, client) => {
        fc.pre(!document.startsWith(change.pathPrefix ?? "/"));
        expect(versionFor(rolledOut(before, change), document, client)).toBe(versionFor(before, document, client));
      }),
    );
  });

  it("who is in a share stays in it as it grows", () => {
    fc.assert(
      fc.property(
        assignment,
        rollout,
        unit,
        path,
        unit,
        (before, { version, pathPrefix, share = 0.5 }, more, document, client) => {
          const small = rolledOut(before, { version, pathPrefix, share });
          fc.pre(share > 0 && versionFor(small, document, client) === version);
          const large = rolledOut(small, { version, pathPrefix, share: Math.max(share, more) });
          expect(versionFor(large, document, client)).toBe(version);
        },
      ),
    );
  });

  it("doing it twice is doing it once", () => {
    fc.assert(
      fc.property(assignment, rollout, (before, change) => {
        const after = rolledOut(before, change);
        expect(rolledOut(after, change)).toEqual(after);
      }),
    );
  });

  it("longer paths come first, and each once", () => {
    fc.assert(
      fc.property(assignment, ({ stages }) => {
        const prefixes = stages.map(({ pathPrefix }) => pathPrefix ?? "");
        expect(prefixes.map((prefix) => prefix.length)).toEqual(
          prefixes.map((prefix) => prefix.length).sort((a, b) => b - a),
        );
        expect(new Set(prefixes).size).toBe(prefixes.length);
      }),
    );
  });
});
