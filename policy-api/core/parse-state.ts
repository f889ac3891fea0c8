import { type Baseline, BASELINES, type PathState, type TransportState } from "./estimator.ts";
import { type Epoch, EPOCHS } from "./epochs.ts";
import { type DecayedLoss, NO_LOSS } from "./loss.ts";
import { IGNORED_MAX } from "./offers.ts";
import {
  boolean,
  list,
  number,
  object,
  optional,
  parse,
  type Parsed,
  type Reader,
  text,
  withDefault,
} from "./parse.ts";
import { BUCKETS, type Windowed } from "./windowed.ts";

const any = number(0, Number.MAX_VALUE);

const readWindowed: Reader<Windowed> = (value, pointer, faults) => {
  const before = faults.length;
  const rows = list(list(any, 2, 2), 0, BUCKETS)(value, pointer, faults);
  return faults.length > before ? [] : rows.map((row) => [row[0] ?? 0, row[1] ?? 0] as const);
};

const readLoss = object<DecayedLoss>({ packets: any, lost: any, asOfMs: any });

const readTransportState = object<TransportState>({
  minRttMs: readWindowed,
  deliveryRateBps: readWindowed,
  loss: readLoss,
  lastAtMs: any,
  baselines: list(
    object<Baseline>({
      connectionId: text(64),
      atMs: any,
      packetsSent: any,
      packetsLost: any,
      bytesSent: any,
      closed: boolean(),
    }),
    0,
    BASELINES,
  ),
  // Old rows have none of these three fields.
  epochs: withDefault(
    list(
      object<Epoch>({
        atMs: any,
        packets: any,
        lost: any,
        bytes: any,
        minRttMs: optional(any),
        deliveryRateBps: optional(any),
      }),
      0,
      EPOCHS,
    ),
    [],
  ),
  changedAtMs: withDefault(any, 0),
  passedOn: withDefault(readLoss, NO_LOSS),
});

/** Reads the times when offers were ignored. Never throws on data. */
export function parseIgnored(input: unknown): Parsed<readonly number[]> {
  return parse(list(any, 0, IGNORED_MAX), input);
}

/** Reads a state from a row, which is parsed like any input. Never throws on data. */
export function parsePathState(input: unknown): Parsed<PathState> {
  return parse(readPathState, input);
}

const readPathState = object<PathState>({ tcp: optional(readTransportState), quic: optional(readTransportState) });
