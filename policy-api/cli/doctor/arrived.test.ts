import { expect, it } from "vitest";
import { arrived } from "./heard.ts";

const SENT = 'h3=":443"; ma=60';
const OWN = 'h3=":443"; ma=86400';

it.each([
  [SENT, [SENT], "as sent"],
  [null, [], "as sent"],
  ["clear", ["clear"], "as sent"],
  [SENT, [], "dropped"],
  ["clear", [OWN], "replaced"],
  [SENT, [SENT, OWN], "appended to"],
  [SENT, [`${OWN}, ${SENT}`], "appended to"],
  ["clear", [`clear, ${OWN}`], "appended to"],
  [null, [OWN], "made up"],
] as const)("%s that comes as %j is %s", (sent, came, expected) => {
  expect(arrived(sent, came)).toBe(expected);
});
