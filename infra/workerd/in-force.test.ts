import { expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { emulatedPolicy, firstPolicy } from "./first-policy.ts";
import { inForceLines, linesOf } from "./in-force.ts";

const none = { stages: [], killSwitch: null } as const;
const policies = new Map<number, Policy>([
  [0, INITIAL_POLICY],
  [1, firstPolicy("bbr")],
  [2, emulatedPolicy()],
  [3, { ...INITIAL_POLICY, mode: "fixed-h3", rules: [{ pathPrefix: "/a", mode: "fixed-h2" }] }],
  [4, { ...firstPolicy("cubic"), exploration: { share: 0.5 }, reports: { share: 0.1, inject: false } }],
]);

it.each([
  ["a new store", { everyone: 0, ...none }, ["everyone: version 0, observe: it measures, and offers nothing"]],
  [
    "the demonstration's",
    { everyone: 1, stages: [{ version: 2, share: 1, pathPrefix: "/as/" }], killSwitch: null },
    [
      "/as/: version 2, adaptive",
      "everyone else: version 1, adaptive (for TCP with bbr); pages report how long they took, by a script that the worker puts in",
    ],
  ],
  ["rules", { everyone: 3, ...none }, ["everyone: version 3, fixed-h3; 1 rule of other modes"]],
  [
    "draws",
    { everyone: 4, ...none },
    [
      "everyone: version 4, adaptive (for TCP with cubic); 50 % of clients draw their answer, to compare both; pages of 10 % of clients report how long they took",
    ],
  ],
  ["a version that cannot be read", { everyone: 9, ...none }, ["everyone: version 9, which cannot be read"]],
])("says what %s puts in force", (_name, activation, lines) => {
  expect(linesOf(activation, policies)).toEqual(lines);
});

it("says first that the kill switch is on", () => {
  expect(linesOf({ everyone: 1, stages: [], killSwitch: "clear" }, policies)[0]).toContain(
    "THE KILL SWITCH IS ON (clear)",
  );
});

it("a store that does not answer stops no start", async () => {
  const fails = (): Promise<never> => Promise.reject(new Error("no answer within 10 s"));
  expect(await inForceLines({ activation: fails, version: fails })).toEqual([
    "The policy store does not say what is in force: no answer within 10 s",
  ]);
});
