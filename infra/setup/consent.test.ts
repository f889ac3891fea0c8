import { expect, it } from "vitest";
import { isYes, mayInstall } from "./consent.ts";

it.each([
  [{}, false],
  [{ CI: "false" }, false],
  [{ INSTALL: "" }, false],
  [{ CI: "true" }, true],
  [{ INSTALL: "yes" }, true],
])("without a terminal %j decides whether a package may be installed: %s", (env, expected) => {
  expect(mayInstall("a package", env)).toBe(expected);
});

it.each([
  ["y\n", true],
  ["Yes\n", true],
  ["\n", false],
  ["n\n", false],
  ["yesterday\n", false],
])("%j at the terminal is %s", (line, expected) => {
  expect(isYes(line)).toBe(expected);
});
