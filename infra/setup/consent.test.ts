import { expect, it } from "vitest";
import { isYes } from "../../base/is-yes.ts";
import { mayInstall } from "./consent.ts";

it.each([
  [{}, false],
  [{ CI: "false" }, false],
  [{ INSTALL: "" }, false],
  [{ CI: "true" }, true],
  [{ INSTALL: "yes" }, true],
])("without a terminal, the environment %j allows an installation: %s", (env, expected) => {
  expect(mayInstall("a package", env)).toBe(expected);
});

it.each([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["n\n", false],
  ["yesterday\n", false],
])("the answer %j at the terminal allows it: %s", (line, expected) => {
  expect(isYes(line)).toBe(expected);
});
