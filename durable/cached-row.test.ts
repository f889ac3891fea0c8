import { describe, expect, it } from "vitest";
import { offersHeld } from "../policy-api/decision/testing.ts";
import { needsWrite } from "./cached-row.ts";
import { EMPTY_ROW, type PathRow } from "./path-row.ts";

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
const seen = (
  over: Partial<typeof CONNECTION | { packetsSent: number; packetsLost: number; bytesSent: number; rttMs: number }>,
): PathRow => row({ client: { ...EMPTY_ROW.client, connections: [{ ...CONNECTION, ...over }] } });
const offered = (over: Parameters<typeof offersHeld>[0]): PathRow =>
  row({ offers: offersHeld({ untilMs: 600_000, answeredAtMs: 1_000, offering: true, ...over }) });

describe("a row is worth a write", () => {
  it.each([
    ["an RTT is known for the first time", undefined, seen({ rttMs: 30 })],
    ["packets were counted", seen({}), seen({ packetsSent: 500 })],
    ["more packets were counted", seen({ packetsSent: 500 }), seen({ packetsSent: 501 })],
    ["fewer are: another connection took its place", seen({ packetsSent: 500 }), seen({ packetsSent: 9 })],
    ["bytes were counted", seen({}), seen({ bytesSent: 7 })],
    ["an offer was made", undefined, offered({})],
    ["it was taken back", offered({}), offered({ offering: false })],
    ["it lasts for much longer", offered({ untilMs: 3_600_000 }), offered({ untilMs: 3_900_000 })],
    ["a short one lasts for twice as long", offered({ untilMs: 61_000 }), offered({ untilMs: 121_000 })],
    ["it was answered long after", offered({ untilMs: 9e6 }), offered({ untilMs: 9e6, answeredAtMs: 901_000 })],
    ["a packet turned out to be lost", seen({ packetsSent: 500 }), seen({ packetsSent: 500, packetsLost: 1 })],
    ["it was ignored", offered({}), offered({ ignoredAtMs: [10_000] })],
    ["it was taken after all", offered({ ignoredAtMs: [10_000] }), offered({ ignoredAtMs: [], takenAtMs: 20_000 })],
    ["hours have passed", row(), row({ lastAtMs: 1_000 + 21_600_000 })],
  ])("where %s", (_name, before, after) => {
    expect(needsWrite({ row: after, waiting: [], written: before ?? EMPTY_ROW })).toBe(true);
  });

  it.each([
    ["nothing is known", undefined, row()],
    ["another RTT is the smallest", seen({}), seen({ rttMs: 20 })],
    ["nothing has changed", seen({ packetsSent: 500 }), seen({ packetsSent: 500, rttMs: 39 })],
    [
      "an offer lasts for a little longer",
      offered({ untilMs: 3_600_000 }),
      offered({ untilMs: 3_899_999, answeredAtMs: 300_000 }),
    ],
    ["a short one does", offered({ untilMs: 61_000 }), offered({ untilMs: 81_000, answeredAtMs: 21_000 })],
    ["an offer was taken that was never ignored", offered({}), offered({ takenAtMs: 20_000 })],
    ["a few hours have passed", row(), row({ lastAtMs: 1_000 + 20_000_000 })],
  ])("and not where %s", (_name, before, after) => {
    expect(needsWrite({ row: after, waiting: [], written: before ?? EMPTY_ROW })).toBe(false);
  });
});
