import { describe, expect, it } from "vitest";
import { findToken, parseTokens, tokenEntry } from "./tokens.ts";

const HASH = "0123456789abcdef".repeat(4);

describe("parseTokens", () => {
  it.each([
    ["", []],
    ["  ,\n ", []],
    [`ops:write:${HASH}`, ["ops write"]],
    [`auto:autopilot:${HASH}`, ["auto autopilot"]],
    [`ops:write:${HASH},view:read:${HASH}`, ["ops write", "view read"]],
    [`ops-2026.11_a:write:${HASH}\n  view:read:${HASH}\n`, ["ops-2026.11_a write", "view read"]],
  ])("%j", (text, known) => {
    const { tokens, faults } = parseTokens(text);
    expect(tokens.map(({ name, scope }) => `${name} ${scope}`)).toEqual(known);
    expect(faults).toEqual([]);
  });

  it.each([
    "a-token-by-mistake",
    `Ops:write:${HASH}`,
    `${"a".repeat(41)}:write:${HASH}`,
    `-a:write:${HASH}`,
    `ops:admin:${HASH}`,
    `ops:write:${HASH.toUpperCase()}`,
    `ops:write:${HASH.slice(1)}`,
    `ops:write:${HASH}0`,
    `ops:write`,
  ])("%s is a fault that does not tell it", (text) => {
    const { tokens, faults } = parseTokens(`view:read:${HASH} ${text}`);
    expect(tokens.map(({ name }) => name)).toEqual(["view"]);
    expect(faults).toEqual(["entry 2 must be name:SCOPE:SHA256, and SCOPE read, write or autopilot"]);
  });

  it("a name stands for one token", () => {
    const { tokens, faults } = parseTokens(`ops:write:${HASH} ops:read:${HASH}`);
    expect([tokens.length, faults]).toEqual([1, ["entry 2 has the name of an earlier one"]]);
  });
});

describe("findToken", () => {
  it("finds whose token it is, by nothing but all of it", async () => {
    const entries = await Promise.all([tokenEntry("a", "write", "token-a"), tokenEntry("b", "read", "token-b")]);
    const { tokens } = parseTokens(entries.join(" "));
    expect((await findToken("token-a", tokens))?.name).toBe("a");
    expect((await findToken("token-b", tokens))?.scope).toBe("read");
    for (const wrong of ["", "token-", "token-c", "token-a ", "TOKEN-A", "token-aa"])
      expect(await findToken(wrong, tokens), wrong).toBeUndefined();
    expect(await findToken("token-a", [])).toBeUndefined();
  });

  it("an entry is SHA-256 as any tool computes it", async () => {
    // printf abc | sha256sum (FIPS 180-4, the first example)
    expect(await tokenEntry("x", "read", "abc")).toBe(
      "x:read:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });

  it("compares every byte with every token, whatever is sent: its time tells nothing", async () => {
    const entries = await Promise.all(["a", "b", "c"].map((name) => tokenEntry(name, "read", `token-${name}`)));
    const { tokens } = parseTokens(entries.join(" "));
    const readsOf = async (presented: string): Promise<number> => {
      let reads = 0;
      const counted = tokens.map((token) => ({
        ...token,
        sha256: new Proxy(token.sha256, {
          get: (bytes, name) => {
            if (/^\d+$/.test(String(name))) reads++;
            return Reflect.get(bytes, name) as unknown;
          },
        }),
      }));
      await findToken(presented, counted);
      return reads;
    };
    for (const presented of ["token-a", "token-b", "token-c", "token-", "", "x"])
      expect(await readsOf(presented), presented).toBe(3 * 32);
  });
});
