import { expect, it } from "vitest";
import { adaptivePolicy, LATTICE } from "../../../policy-api/core/testing.ts";
import { dependsOnAnswerBefore } from "./margin.ts";
import { stretchRows } from "./testing.ts";

/** HTTP/3 saves so much everywhere. */
const saving = (ratio: number) =>
  adaptivePolicy({
    method: { kind: "times", tcp: { ...LATTICE, stayMs: LATTICE.switchMs.map((ms) => ms * (1 + ratio)) } },
    margin: { enter: 0.05, leave: 0, standardErrors: 0 },
  });
const [row] = stretchRows({ tcpPacketsSent: 700, tcpMinRttMs: 50 }, "H");

it.each([
  [0.2, false],
  [0.02, true],
  [-0.1, false],
])("a saving of %d: whether the answer hangs on the one before is %s", (ratio, depends) => {
  if (row === undefined) throw new Error("there is a row");
  expect(dependsOnAnswerBefore(saving(ratio), row)).toBe(depends);
});
