import { expect, it } from "vitest";
import { meaningOfBuffers } from "./udp-buffers.ts";

const WANTED = 7 << 20;
/** What Linux' defaults give: twice net.core.rmem_max. */
const LINUX = 2 * 212_992;

it.each([
  [WANTED, WANTED, /^nothing is to be done$/],
  [LINUX, WANTED, /Set net\.core\.rmem_max to 7500000;/],
  [WANTED, LINUX, /Set net\.core\.wmem_max to 7500000;/],
  [LINUX, LINUX, /Set net\.core\.rmem_max and net\.core\.wmem_max to 7500000; see docs\/deploy-server\.md$/],
])("says of buffers of %i and %i bytes what to set", (receiveBytes, sendBytes, expected) => {
  expect(meaningOfBuffers({ receiveBytes, sendBytes, wantedBytes: WANTED })).toMatch(expected);
});
