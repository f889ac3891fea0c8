import { describe, expect, it } from "vitest";
import { EMPTY_ROW, type PathRow } from "./path-rows.ts";
import { tells, toldBy } from "./told.ts";

const CONNECTION = {
  id: "-",
  transport: "tcp",
  atMs: 1,
  rttMs: 40,
  packetsSent: 0,
  packetsLost: 0,
  bytesSent: 0,
  busyMs: 0,
  closed: false,
} as const;
const row = (over: Partial<PathRow> = {}): PathRow => ({ ...EMPTY_ROW, lastAtMs: 1_000, ...over });
const seen = (over: Partial<typeof CONNECTION | { packetsSent: number; bytesSent: number; rttMs: number }>): PathRow =>
  row({ client: { ...EMPTY_ROW.client, connections: [{ ...CONNECTION, ...over }] } });
const offered = (over: Partial<PathRow["offers"]>): PathRow =>
  row({ offers: { untilMs: 600_000, answeredAtMs: 1_000, offering: true, takenAtMs: 0, ignoredAtMs: [], ...over } });

describe("a row is worth a write", () => {
  it.each([
    ["an RTT is known for the first time", undefined, seen({ rttMs: 30 })],
    ["packets were counted", seen({}), seen({ packetsSent: 500 })],
    ["more packets were counted", seen({ packetsSent: 500 }), seen({ packetsSent: 501 })],
    ["fewer are: another connection took its place", seen({ packetsSent: 500 }), seen({ packetsSent: 9 })],
    ["bytes were counted", seen({}), seen({ bytesSent: 7 })],
    ["an offer was made", undefined, offered({})],
    ["it was taken back", offered({}), offered({ offering: false })],
    ["it lasts for much longer", offered({}), offered({ untilMs: 900_000 })],
    ["it was ignored", offered({}), offered({ ignoredAtMs: [10_000] })],
    [
      "it was taken after all",
      offered({ ignoredAtMs: [10_000] }),
      offered({ ignoredAtMs: [10_000], takenAtMs: 20_000 }),
    ],
    ["a day has passed", row(), row({ lastAtMs: 1_000 + 86_400_000 })],
  ])("where %s", (_name, before, after) => {
    expect(tells(before && toldBy(before), toldBy(after))).toBe(true);
  });

  it.each([
    ["nothing is known", undefined, row()],
    ["another RTT is the smallest", seen({}), seen({ rttMs: 20 })],
    ["nothing has changed", seen({ packetsSent: 500 }), seen({ packetsSent: 500, rttMs: 39 })],
    ["an offer lasts for a little longer", offered({}), offered({ untilMs: 899_999, answeredAtMs: 300_000 })],
    ["an offer was taken that was never ignored", offered({}), offered({ takenAtMs: 20_000 })],
    ["a few hours have passed", row(), row({ lastAtMs: 1_000 + 80_000_000 })],
  ])("and not where %s", (_name, before, after) => {
    expect(tells(before && toldBy(before), toldBy(after))).toBe(false);
  });
});
