import { expect, it } from "vitest";
import { demoLoadMs } from "./demo-loads.ts";
import { DEMO_NETWORKS } from "./demo-networks.ts";

/** Without noise: each draw is the mean. */
const random = (): number => 0.5;

it.each([
  // So near, a browser takes longer over HTTP/3 than its round trips save.
  ["fibre", true, "slower"],
  ["fibre", false, "slower"],
  ["cable", false, "faster"],
  ["phone", true, "faster"],
  ["UDP", false, "slower"],
  ["continent", true, "faster"],
])("on %s, HTTP/3 (its connection new: %s) is %s", (name, opened, expected) => {
  const network = DEMO_NETWORKS.find(({ about }) => about.includes(name));
  if (network === undefined) throw new Error(`there is no ${name}`);
  const [h2, h3] = (["tcp", "quic"] as const).map((transport) => demoLoadMs({ network, transport, opened, random }));
  expect((h3 ?? 0) < (h2 ?? 0) ? "faster" : "slower").toBe(expected);
});
