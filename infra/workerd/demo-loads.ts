import { gainsAt, gridOf, lossWeights } from "../../policy-api/decision/gain-table.ts";
import type { GainsMethod } from "../../policy-api/decision/policy.ts";
import type { Transport } from "../../policy-api/decision/sample.ts";
import { type DemoNetwork, lossOf } from "./demo-networks.ts";
import { emulatedPolicy } from "./first-policy.ts";

/** Over HTTP/2: so long at the server, and so many round trips. Invented; what HTTP/3 changes of it is not. */
const SERVER_MS = 150;
const ROUND_TRIPS = 7;
/** The standard deviation of ln(time). Small, so that the first hundred visitors of a network show what it is like. */
const SPREAD = 0.15;
/** HTTP/3 takes so many times as long where UDP is policed. Invented: the table is of links that treat both alike. */
const POLICED = 2;
/** The table is read at a loss that is known well. */
const PACKETS = 1e6;

/** A page that a visitor who is not there loads. */
interface Load {
  readonly network: DemoNetwork;
  readonly transport: Transport;
  /** Whether its connection was opened for it. */
  readonly opened: boolean;
  readonly random: () => number;
}

/**
 * How long the page takes, whole milliseconds. Between HTTP/2 and HTTP/3 lies what the calibration of cubic.json measured at this RTT and loss,
 * with the price of an offer on the page that opens the connection.
 */
export function demoLoadMs({ network, transport, opened, random }: Load): number {
  const weights = lossWeights(GRID, MIX, {
    sent: PACKETS,
    lost: PACKETS * lossOf(network, "tcp"),
  });
  const { next, price } = gainsAt(GRID, network.rttMs, POLICY.contentBytes.default, weights);
  const policed = (network.udpLossRatio ?? 0) > 0 ? Math.log(POLICED) : 0;
  const changed = transport === "quic" ? policed - next + (opened ? price : 0) : 0;
  // The sum of twelve: nearly normal.
  const noise = Array.from({ length: 12 }, random).reduce((sum, one) => sum + one, -6);
  return Math.round((SERVER_MS + ROUND_TRIPS * network.rttMs) * Math.exp(changed + SPREAD * noise));
}

const POLICY = emulatedPolicy();
const METHOD = POLICY.method as GainsMethod;
const GRID = gridOf(METHOD.table);
const MIX = Float64Array.from(METHOD.mix);
