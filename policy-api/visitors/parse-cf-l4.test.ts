import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCfL4 } from "./parse-cf-l4.ts";

const WHOLE =
  "?proto=TCP&rtt=2026&min_rtt=1850&rtt_var=500&sent=6&recv=8&lost=1&retrans=2&sent_bytes=3395&recv_bytes=1234" +
  "&delivery_rate=1500000&cwnd=251&unsent_bytes=7&cid=0123456789abcdef&ts=58&x=0";
const READ = {
  transport: "tcp",
  connectionId: "0123456789abcdef",
  rttMs: 2.026,
  minRttMs: 1.85,
  packetsSent: 6,
  packetsLost: 1,
  bytesSent: 3395,
  deliveryRateBps: 1_500_000,
};

describe("parseCfL4", () => {
  it.each<[string, string, object]>([
    ["the whole form: RTTs in microseconds", WHOLE, READ],
    ["over QUIC", WHOLE.replace("TCP", "QUIC"), { ...READ, transport: "quic" }],
    ["without the question mark", WHOLE.slice(1), READ],
    ["an older form, without min_rtt", WHOLE.replace("&min_rtt=1850", ""), { ...READ, minRttMs: undefined }],
    [
      "an early reading, of zeros",
      "?proto=QUIC&rtt=0&min_rtt=0&sent=0&lost=0&sent_bytes=0&delivery_rate=0&cid=ab",
      { transport: "quic", connectionId: "ab" },
    ],
    ["lost packets of none sent", "?proto=TCP&lost=5&cid=ab", { transport: "tcp", connectionId: "ab" }],
    ["no loss is a figure", "?proto=TCP&sent=5&lost=0&cid=ab", { packetsSent: 5, packetsLost: 0 }],
    ["no loss told", "?proto=TCP&sent=5&cid=ab", { packetsSent: 5, packetsLost: undefined }],
    ["fields of another form", WHOLE.replace("sent=6", "sent=6.5").replace("rtt=2026", "rtt=-1"), { minRttMs: 1.85 }],
    ["a field that stands there twice: the first", `${WHOLE}&sent=999`, READ],
    ["further fields", `${WHOLE}&y=1&z`, READ],
  ])("reads %s", (_name, text, expected) => {
    expect(parseCfL4(text)).toMatchObject(expected);
  });

  it("leaves out what is of another form, and what is 0", () => {
    const read = parseCfL4("?proto=TCP&rtt=0&min_rtt=x&sent=1e9&sent_bytes=&delivery_rate=-5&cid=ab");
    expect(Object.values(read ?? {}).filter((value) => value !== undefined)).toEqual(["tcp", "ab"]);
  });

  it.each([
    ["nothing", ""],
    ["another protocol", WHOLE.replace("TCP", "SCTP")],
    ["a name of every object", WHOLE.replace("TCP", "constructor")],
    ["no protocol", WHOLE.replace("proto=TCP&", "")],
    ["no name of the connection", WHOLE.replace("&cid=0123456789abcdef", "")],
    ["a name that is too long", WHOLE.replace("0123456789abcdef", "a".repeat(59))],
    ["a name with other characters", WHOLE.replace("0123456789abcdef", "a%20b")],
    ["too long a text", WHOLE + "&y=".padEnd(512, "1")],
  ])("keeps nothing of %s", (_name, text) => {
    expect(parseCfL4(text)).toBeUndefined();
  });

  it("never throws, and never reads a figure that is none", () => {
    const part = fc.oneof(
      fc.constantFrom(...WHOLE.split("&")),
      fc
        .tuple(fc.constantFrom("sent", "lost", "rtt", "cid", "proto", "delivery_rate"), fc.string())
        .map((p) => p.join("=")),
      fc.string(),
    );
    let read = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), fc.boolean(), (some, isNamed) => {
        const parts = isNamed ? ["proto=TCP", "cid=ab", ...some] : some;
        const { transport, connectionId: _, ...figures } = parseCfL4(parts.join("&")) ?? {};
        if (transport !== undefined) read++;
        for (const figure of Object.values(figures)) if (figure !== undefined) expect(figure).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
    expect(read).toBeGreaterThan(100);
  });
});
