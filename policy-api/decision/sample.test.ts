import { describe, expect, it } from "vitest";
import { object, parse } from "./parse.ts";
import { type PathSample, pathSampleFields } from "./sample.ts";

const readPathSample = object<PathSample>(pathSampleFields);

const VALID = { transport: "quic", connectionId: "ab", atMs: 1, closing: true };

describe("pathSampleFields", () => {
  it("reads a sample, with and without readings", () => {
    expect(parse(readPathSample, VALID)).toEqual({ ok: true, value: VALID });
    const full = {
      ...VALID,
      rttMs: 0.5,
      minRttMs: 0.4,
      packetsSent: 9,
      packetsLost: 0,
      bytesSent: 9,
      deliveryRateBps: 2,
    };
    expect(parse(readPathSample, full)).toEqual({ ok: true, value: full });
  });

  it.each([
    [{ ...VALID, transport: "sctp" }, "/transport"],
    [{ ...VALID, connectionId: "" }, "/connectionId"],
    [{ ...VALID, atMs: -1 }, "/atMs"],
    [{ ...VALID, rttMs: Number.NaN }, "/rttMs"],
    [{ ...VALID, rttMs: -1 }, "/rttMs"],
    [{ ...VALID, packetsSent: 1.5 }, "/packetsSent"],
    [{ ...VALID, packetsLost: "1" }, "/packetsLost"],
    [{ ...VALID, deliveryRateBps: 1e300 }, "/deliveryRateBps"],
    [{ ...VALID, closing: 1 }, "/closing"],
    [{ ...VALID, extra: 1 }, "/extra"],
  ])("refuses %j", (input, pointer) => {
    const parsed = parse(readPathSample, input);
    expect(parsed.ok ? [] : parsed.faults.map((fault) => fault.pointer)).toEqual([pointer]);
  });
});
