import { expect, it } from "vitest";
import { type Heard, heard, refusedPort } from "./heard.ts";

it.each<[readonly string[], Heard]>([
  [[], "nothing"],
  [[""], "nothing"],
  [["clear"], "over"],
  [[' h3=":443"; ma=60 '], "offer"],
  [['h3=":443"; ma=60; persist=1'], "offer"],
  [['h3=":443"'], "offer"],
  [['h2="alt.example:443", h3=":443"; ma=5'], "offer"],
  [['h3-29=":443"; ma=5', 'h3=":443"; ma=6'], "offer"],
  [['h3="other.example:443"; ma=6'], "offer"],
  // It says that HTTP/2 is elsewhere, and nothing of HTTP/3: earlier offers are over.
  [['h2="alt.example:443"'], "over"],
  [['h3=":8443"; ma=60'], "over"],
  // "clear, h3" is taken for the name of a protocol.
  [["clear", 'h3=":443"; ma=86400'], "over"],
  [['h3=":443"; ma=86400', "clear"], "nothing"],
  [["Clear"], "nothing"],
  [["h3=:443"], "nothing"],
  [['h3=":443"; ma'], "nothing"],
  [['h3=":443"; ma=0'], "nothing"],
  [['h3=":443"; ma="60"'], "nothing"],
])("%j is read as: %s", (values, expected) => {
  expect(heard(values)).toBe(expected);
});

it.each([
  [['h3=":8443"; ma=60'], 443, 8443, "over"],
  [['h3=":1024"; ma=60'], 1023, 1024, "over"],
  [['h3=":1023"; ma=60'], 443, undefined, "offer"],
  [['h3=":8443"; ma=60'], 1024, undefined, "offer"],
  [['h3=":443"; ma=60, h3=":8443"'], 443, 8443, "offer"],
  [['h2=":8443"; ma=60'], 443, undefined, "over"],
] as const)("of %j at port %i Chromium refuses %s, and Firefox nothing", (values, originPort, refused, inChromium) => {
  expect(refusedPort(values, originPort)).toBe(refused);
  expect(heard(values, originPort)).toBe(inChromium);
  expect(heard(values, originPort, "Firefox")).toBe(values[0].startsWith("h2") ? "over" : "offer");
});

it.each<[readonly string[], Heard, Heard]>([
  [["clear", 'h3=":443"; ma=86400'], "over", "offer"],
  [['clear, h3=":443"'], "over", "offer"],
  [['clear, h2=":443"'], "over", "over"],
])("of %j Chromium says %s, and Firefox %s", (values, inChromium, inFirefox) => {
  expect([heard(values), heard(values, 443, "Firefox")]).toEqual([inChromium, inFirefox]);
});

it("follows an offer of a high port from a high port", () => {
  expect(heard(['h3=":8443"; ma=60'], 8443)).toBe("offer");
  expect(heard(['h3=":443"; ma=60'], 8443)).toBe("offer");
});
