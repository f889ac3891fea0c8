import { expect, it } from "vitest";
import { readOptions } from "../../model/options.ts";
import { experiment } from "./experiment.ts";
import { answerOf } from "./row.ts";

it.each([
  ['h3=":8000"; ma=60', "h2", "offer"],
  ["clear", "h2", "clear"],
  ["", "h2", "none"],
  ["", "", "unknown"],
] as const)("Alt-Svc %j on a document over %j is %s", (altSvc, documentProtocol, answer) => {
  expect(answerOf({ altSvc, documentProtocol })).toBe(answer);
});

it("measures all, five clients each by default; --quick is one client of one scenario", () => {
  const asked = (...args: string[]) => experiment.question(readOptions(args, experiment.options));
  const names = ["loss", "rtt", "near", "rate"].map((name) => expect.objectContaining({ name }));
  expect(asked()).toMatchObject({ scenarios: names, congestions: ["cubic", "bbr"], clients: 5 });
  expect(asked("--quick")).toMatchObject({ scenarios: [{ name: "loss" }], congestions: ["cubic"], clients: 1 });
  expect(() => asked("--clients", "0")).toThrow("--clients must be a whole number from 1 to 100, not 0.");
});
