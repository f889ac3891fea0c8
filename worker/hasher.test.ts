import { describe, expect, it } from "vitest";
import { clientAddress } from "./address.ts";
import { Hasher } from "./hasher.ts";
import { HASH_KEY } from "./testing.ts";

describe("clientAddress", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
    ["::ffff:192.0.2.7", "192.0.2.7", "192.0.2.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", "2001:db8:1::/48"],
    ["2001:DB8:0001:0002::", "2001:db8:1:2::/64", "2001:db8:1::/48"],
    ["::1", "0:0:0:0::/64", "0:0:0::/48"],
  ])("%s", (text, client, network) => {
    expect(clientAddress(text)).toEqual({ client, network });
  });

  it.each([
    "",
    "localhost",
    "192.0.2",
    "192.0.2.256",
    "0x7f.1",
    "1",
    "192.0.2.7, 10.0.0.1",
    "fe80::1%eth0",
    ":::",
    "1.2.3.4:80",
  ])("%j is none", (text) => {
    expect(clientAddress(text)).toBeUndefined();
  });
});

describe("Hasher", () => {
  const address = (text: string) => clientAddress(text) ?? { client: "", network: "" };

  it("names clients and networks by keyed hashes, each in a domain of its own", () => {
    const hasher = new Hasher(HASH_KEY);
    const a = hasher.named(address("192.0.2.7"), 1).keys;
    const b = hasher.named(address("192.0.2.8"), 1).keys;
    expect(a.client).toMatch(/^[A-Za-z0-9+/]{22}$/);
    expect(a.network).toBe(b.network);
    expect(new Set([a.client, a.network, b.client]).size).toBe(3);
    expect(hasher.named(address("192.0.2.7"), 1).keys).toEqual(a);
    const other = new Hasher(new Uint8Array(32).buffer);
    expect(other.named(address("192.0.2.7"), 1).keys.client).not.toBe(a.client);
  });

  it("names origins by keyed hashes too, whatever a visitor calls a host", () => {
    const hasher = new Hasher(HASH_KEY);
    const hosts = ["site.test", "site.test:8443", "192.0.2.7", "x".repeat(10_000)];
    const names = hosts.map((host) => hasher.origin(host));
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9+/]{8}$/);
    expect(new Set(names).size).toBe(hosts.length);
    expect(hasher.named(address("192.0.2.7"), 1).keys.client).not.toContain(names[2]);
    for (let i = 0; i < 1_000; i++) hasher.origin(`${i}.test`);
    expect(hosts.map((host) => hasher.origin(host))).toEqual(names);
  });

  it("is HMAC-SHA-256 as the platform computes it: what older versions stored keeps its name", async () => {
    const key = await crypto.subtle.importKey("raw", HASH_KEY, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const hashed = async (text: string) =>
      new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
    const nameOf = async (text: string) => btoa(String.fromCharCode(...(await hashed(text)).slice(0, 16))).slice(0, 22);
    const hasher = new Hasher(HASH_KEY);
    const { client, network } = address("192.0.2.7");
    const { keys, object } = hasher.named({ client, network }, 2 ** 32);
    expect(keys).toEqual({
      client: await nameOf(`client\0${client}`),
      network: await nameOf(`network\0${network}`),
    });
    const hash = await hashed(`network\0${network}`);
    expect(object).toBe(new DataView(hash.buffer).getUint32(16));
  });

  it("spreads networks over objects, and keeps a network in one", () => {
    const hasher = new Hasher(HASH_KEY);
    const counts = Array.from({ length: 4 }, () => 0);
    for (let i = 0; i < 400; i++) {
      const number = hasher.named(address(`10.${i % 200}.${i % 7}.1`), 4).object;
      counts[number] = (counts[number] ?? 0) + 1;
    }
    for (const count of counts) expect(count).toBeGreaterThan(50);
    expect(hasher.named(address("10.0.0.1"), 4).object).toBe(hasher.named(address("10.0.0.200"), 4).object);
  });

  it("draws a unit for a client and a period", () => {
    const hasher = new Hasher(HASH_KEY);
    const units = Array.from({ length: 200 }, (_, i) => hasher.unit("exploration", address(`10.0.${i}.1`), 5));
    expect(Math.min(...units)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...units)).toBeLessThan(1);
    expect(units.filter((unit) => unit < 0.5).length).toBeGreaterThan(70);
    expect(hasher.unit("exploration", address("10.0.0.1"), 5)).toBe(units[0]);
    expect(hasher.unit("exploration", address("10.0.0.1"), 6)).not.toBe(units[0]);
  });

  it("draws arms in a domain of their own: a client's object, share and reports say nothing of its arm", () => {
    const hasher = new Hasher(HASH_KEY);
    const clients = Array.from({ length: 400 }, (_, i) => address(`10.${i >> 8}.${i & 255}.1`));
    const halves = (draw: (client: (typeof clients)[number]) => boolean): boolean[] => clients.map(draw);
    const offered = halves((client) => hasher.unit("exploration", client, 10_000) < 0.5);
    const others: [string, boolean[]][] = [
      ["object", halves((client) => hasher.named(client, 2).object === 0)],
      ["share", halves((client) => hasher.unit("share", client) < 0.5)],
      ["activation", halves((client) => hasher.unit("activation", client) < 0.5)],
      ["reporting", halves((client) => hasher.unit("reporting", client) < 0.5)],
      ["the next period", halves((client) => hasher.unit("exploration", client, 10_001) < 0.5)],
    ];
    for (const [name, other] of others) {
      // A quarter of 400, with a deviation of 8.7.
      const both = other.filter((is, i) => is && offered[i]).length;
      expect(both, name).toBeGreaterThan(70);
      expect(both, name).toBeLessThan(130);
    }
  });

  it("draws for a share in a domain of its own, always the same for a client", () => {
    const hasher = new Hasher(HASH_KEY);
    const clients = Array.from({ length: 400 }, (_, i) => address(`10.${i >> 8}.${i & 255}.1`));
    const shares = clients.map((client) => hasher.unit("share", client));
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...shares)).toBeLessThan(1);
    expect(hasher.unit("share", clients[0] ?? address("10.0.0.1"))).toBe(shares[0]);
    // Clients that explore are not more likely to be in the share: a quarter of all clients is below one half in both.
    const explored = clients.map((client) => hasher.unit("exploration", client, 0));
    const both = shares.filter((share, i) => share < 0.5 && (explored[i] ?? 1) < 0.5).length;
    expect(both).toBeGreaterThan(70);
    expect(both).toBeLessThan(130);
    // All addresses of an IPv6 /64 are one client.
    expect(hasher.unit("share", address("2001:db8::1"))).toBe(hasher.unit("share", address("2001:db8::2")));
  });
});
