import unknownStack from "../policies/unknown-stack.json" with { type: "json" };
import { expect, it } from "vitest";
import { parsePolicy } from "../decision/policy.ts";
import { EMPTY_GAINS } from "./empty-table.ts";

it("is what policies/unknown-stack.json has, which explores and asks all pages", () => {
  expect(parsePolicy(unknownStack)).toMatchObject({
    ok: true,
    value: { mode: "adaptive", method: EMPTY_GAINS, exploration: { share: 0.04 }, reports: { share: 1 } },
  });
});
