import { expect, it } from "vitest";
import { clientAddresses } from "./request-load.ts";

it("gives each client an address in a network of its own, and no run another's", () => {
  const most = 200;
  const addresses = [0, 1, 253].flatMap((run) => clientAddresses(run, most));
  expect(new Set(addresses.map((address) => address.slice(0, address.lastIndexOf(".")))).size).toBe(3 * most);
  for (const address of addresses) {
    const bytes = address.split(".").map(Number);
    expect(bytes[0]).toBe(127);
    expect(Math.max(...bytes)).toBeLessThanOrEqual(255);
    // The servers' own.
    expect(address).not.toBe("127.0.0.1");
  }
});
