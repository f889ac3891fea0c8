import { expect, it } from "vitest";
import { type Advertise, altSvcValue } from "./alt-svc.ts";

it.each<[Advertise, string | undefined]>([
  [{ kind: "h3", maS: 60 }, 'h3=":8443"; ma=60'],
  [{ kind: "clear" }, "clear"],
  [{ kind: "nothing" }, undefined],
])("%j", (advertise, expected) => {
  expect(altSvcValue(advertise, 8443)).toBe(expected);
});
