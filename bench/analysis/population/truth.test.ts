import { expect, it } from "vitest";
import type { LoadRow } from "../../model/load-row.ts";
import { blankRow } from "../../model/row-schema.ts";
import { LOAD_ROW } from "../../model/load-row.ts";
import { halve, seededRandom } from "../statistics/random.ts";
import type { Client } from "../../model/clients.ts";
import { measuredClients, type PageTimes, timesOf } from "./truth.ts";

const CLIENT: Client = {
  name: "near-1",
  mix: "near",
  rttMs: 40,
  lossRatio: 0.01,
  rateMbps: 50,
  bytes: 1e6,
  files: 10,
};
const row = (over: Partial<LoadRow>): LoadRow =>
  blankRow(LOAD_ROW, {
    cell: "near-1-cubic",
    congestion: "cubic",
    arm: "bare",
    flow: "visit",
    outcome: "ok",
    dropped: "",
    loadMs: 1_800,
    pagesMs: "1000.000;800.000",
    handshakeMs: 90,
    documentProtocol: "h2",
    delayMs: 20,
    tcpPacketsSent: 1_500,
    tcpPacketsLost: 15,
    tcpMinRttMs: 41,
    ...over,
  });
const times = (n: number, over: Partial<LoadRow> = {}) => Array.from({ length: n }, () => row(over));

it("reads pages and counts of each sender's loads", () => {
  const [client] = measuredClients(
    [CLIENT],
    [
      ...times(4),
      ...times(4, {
        arm: "quiche-bbr2",
        documentProtocol: "h3",
        quicPacketsSent: 1_600,
        quicPacketsLost: 16,
        quicMinRttMs: 40,
      }),
    ],
  );
  expect(client?.loads.cubic?.[0]).toEqual({
    firstMs: 1_000,
    openedMs: 910,
    laterMs: 800,
    packets: 1_500,
    lost: 15,
    rttMs: 41,
    deliveryRateBps: 0,
  });
  expect(client?.loads["quiche-bbr2"]?.[0]).toMatchObject({ packets: 1_600, lost: 16, rttMs: 40 });
  expect(client?.loads.bbr).toBeUndefined();
});

it.each([
  ["loads that do not count", times(4, { dropped: "busy" })],
  ["too few of them", times(3)],
  ["those of another flow", times(4, { flow: "trained" })],
  ["those of another client", times(4, { cell: "near-10-cubic" })],
])("leaves out %s", (_name, rows) => {
  expect(measuredClients([CLIENT], rows)[0]?.loads).toEqual({});
});

it("halves loads whole, and gives each half's means", () => {
  const [client] = measuredClients(
    [CLIENT],
    [1, 2, 3, 4].map((i) => row({ pagesMs: `${1_000 * i}.000;${100 * i}.000` })),
  );
  const [one, other] = halve(client?.loads.cubic ?? [], seededRandom(1, "halves")).map(timesOf) as [
    PageTimes,
    PageTimes,
  ];
  expect(one.firstMs + other.firstMs).toBe(5_000);
  expect(one.laterMs).toBeCloseTo(one.firstMs / 10, 9);
  expect(one.openedMs).toBeCloseTo(one.firstMs - 90, 9);
});
