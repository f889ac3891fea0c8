import { expect, it } from "vitest";
import { answerOf } from "./row.ts";

it.each([
  ['h3=":8000"; ma=60', "h2", "offer"],
  ["clear", "h2", "clear"],
  ["", "h2", "none"],
  ["", "", "unknown"],
] as const)("Alt-Svc %j on a document over %j is %s", (altSvc, documentProtocol, answer) => {
  expect(answerOf({ altSvc, documentProtocol })).toBe(answer);
});
