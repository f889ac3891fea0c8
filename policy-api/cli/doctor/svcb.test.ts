import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { alpnOf } from "./svcb.ts";

const bytes = (hex: string): Uint8Array => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

describe("alpnOf", () => {
  // The vectors of RFC 9460, appendix D.
  it.each<[string, string, readonly string[] | undefined]>([
    ["D.1, figure 2: AliasMode", "000003666f6f076578616d706c6503636f6d00", undefined],
    ["D.2, figure 3: the root", "000100", undefined],
    ["D.2, figure 4: a port", "001003666f6f076578616d706c6503636f6d000003000200 35".replace(" ", ""), undefined],
    [
      "D.2, figure 9: alpn in two parts",
      "001003666f6f076578616d706c65036f726700000000040001000400010009026832 0568332d3139000400 04c0000201".replaceAll(
        " ",
        "",
      ),
      ["h2", "h3-19"],
    ],
    ["as Cloudflare makes them", "00010000010006026833026832", ["h3", "h2"]],
    ["one that breaks off", "0001000001000602683302", undefined],
    ["an empty name", "00010000010003000268", undefined],
  ])("%s", (_what, hex, expected) => {
    expect(alpnOf(bytes(hex))).toEqual(expected);
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (rdata) => {
        expect(() => alpnOf(rdata)).not.toThrow();
      }),
    );
  });
});
