import type { Client } from "../../model/clients.ts";
import { counts, type LoadRow } from "../../model/load-row.ts";
import { type Sender, senderOf } from "../../model/senders.ts";
import { mean } from "../statistics/summary.ts";

/** One load of a client, as it was measured: times in milliseconds, and what the sender counted of it. */
export interface MeasuredLoad {
  /** A first page, with the connection's set-up. */
  readonly firstMs: number;
  /** The same without it. */
  readonly openedMs: number;
  /** A later page. */
  readonly laterMs: number;
  /** Of both pages. */
  readonly packets: number;
  readonly lost: number;
  readonly rttMs: number;
  readonly deliveryRateBps: number;
}

/** A client, and the loads of each sender. */
export interface MeasuredClient extends Client {
  readonly loads: Readonly<Partial<Record<Sender, readonly MeasuredLoad[]>>>;
}

/** Mean times of a sender's pages, milliseconds. */
export type PageTimes = Readonly<Record<"firstMs" | "openedMs" | "laterMs", number>>;

/** Loads of a sender without which neither half has a mean. */
const LOADS_MIN = 4;

/** Puts the rows of a run of `clients` to the clients that were drawn. Pure. */
export function measuredClients(clients: readonly Client[], rows: readonly LoadRow[]): MeasuredClient[] {
  const own = Map.groupBy(
    rows.filter((row) => row.flow === "visit" && counts(row)),
    ({ cell, congestion }) => cell.slice(0, -congestion.length - 1),
  );
  return clients.map((client) => {
    const bySender = Map.groupBy(own.get(client.name) ?? [], ({ arm, congestion }) => senderOf(arm, congestion));
    const loads = [...bySender].flatMap(([sender, found]) => {
      const read = found.flatMap((row) => loadOf(row) ?? []);
      return sender === undefined || read.length < LOADS_MIN ? [] : [[sender, read] as const];
    });
    return { ...client, loads: Object.fromEntries(loads) };
  });
}

function loadOf(row: LoadRow): MeasuredLoad | undefined {
  const [firstMs, laterMs] = row.pagesMs.split(";").map(Number);
  if (firstMs === undefined || laterMs === undefined || row.handshakeMs === null) return undefined;
  const isQuic = row.documentProtocol === "h3";
  const [packets, lost] = isQuic
    ? [row.quicPacketsSent, row.quicPacketsLost]
    : [row.tcpPacketsSent, row.tcpPacketsLost];
  const [rttMs, rate] = isQuic
    ? [row.quicMinRttMs, row.quicDeliveryRateBps]
    : [row.tcpMinRttMs, row.tcpDeliveryRateBps];
  return {
    firstMs,
    openedMs: firstMs - row.handshakeMs,
    laterMs,
    packets: packets ?? 0,
    lost: Math.min(packets ?? 0, lost ?? 0),
    rttMs: rttMs ?? 2 * row.delayMs,
    deliveryRateBps: rate ?? 0,
  };
}

/** Mean times of some loads. */
export function timesOf(loads: readonly MeasuredLoad[]): PageTimes {
  return {
    firstMs: mean(loads.map(({ firstMs }) => firstMs)),
    openedMs: mean(loads.map(({ openedMs }) => openedMs)),
    laterMs: mean(loads.map(({ laterMs }) => laterMs)),
  };
}
