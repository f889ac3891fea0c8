import type { Policy, Provenance } from "../../../policy-api/core/policy.ts";
import { INITIAL_POLICY } from "../../../policy-api/core/policy.ts";
import type { Transport } from "../../../policy-api/core/sample.ts";
import type { TimesLattice } from "../../../policy-api/core/times.ts";
import type { CalibrationCell, Place } from "./cells.ts";
import { type Axes, type CrossValidation, digits, type Fit, fitTimes, latticeOf, type NodeTimes } from "./fit.ts";
import type { Mix } from "./mixes.ts";

export interface Calibration {
  readonly method: { readonly kind: "times"; readonly tcp: TimesLattice; readonly quic: TimesLattice };
  readonly coldStart: TimesLattice;
  readonly validation: Readonly<Record<Transport | "configured", CrossValidation>>;
}

/** Nodes of the RTT axis, milliseconds: closer together than the measured cells, which the fit runs between. */
const RTT_MS = [0.1, 3, 10, 20, 35, 55, 90] as const;
const LOSS_RATIO = [0, 0.003, 0.01, 0.02, 0.035, 0.06] as const;
const RATES = 4;
/**
 * How cautious a calibrated policy is. A wrong offer and a wrong silence cost alike, so that more caution than half a
 * standard error loses more to silence than it saves: `replay` with other figures here, on held-out cells.
 */
const STANDARD_ERRORS = 0.5;

/**
 * Turns cells of one stack and congestion control into times over what each transport measures, and a cold start over a
 * mix of networks. Pure. Undefined with too few cells.
 */
export function calibrate(cells: readonly CalibrationCell[], mix: Mix): Calibration | undefined {
  const sizes = [...new Set(cells.map(({ contentBytes }) => contentBytes))].sort((a, b) => a - b);
  const fitOver = (placeOf: (cell: CalibrationCell) => Place | undefined): { fit: Fit; axes: Axes } | undefined => {
    const placed = cells.flatMap((cell) => {
      const place = placeOf(cell);
      return place === undefined ? [] : [{ cell, place }];
    });
    const fit = fitTimes(placed);
    return fit === undefined
      ? undefined
      : {
          fit,
          axes: axesOf(
            placed.map(({ place }) => place),
            sizes,
          ),
        };
  };
  const tcp = fitOver(({ measured }) => measured.tcp);
  const quic = fitOver(({ measured }) => measured.quic);
  const configured = fitOver((cell) => cell.configured);
  if (tcp === undefined || quic === undefined || configured === undefined) return undefined;
  const lattices = {
    tcp: latticeOf(tcp.axes, tcp.fit.at),
    quic: latticeOf(quic.axes, quic.fit.at),
    cold: coldStartOf(configured.fit, configured.axes, mix),
  };
  if (lattices.tcp === undefined || lattices.quic === undefined || lattices.cold === undefined) return undefined;
  return {
    method: { kind: "times", tcp: lattices.tcp, quic: lattices.quic },
    coldStart: lattices.cold,
    validation: {
      tcp: tcp.fit.validation,
      quic: quic.fit.validation,
      configured: configured.fit.validation,
    },
  };
}

/** The policy of a calibration: what an operator may deploy, or change first. */
export function policyOf(calibration: Calibration, mix: Mix, provenance: Provenance | undefined): Policy {
  return {
    ...INITIAL_POLICY,
    mode: "adaptive",
    ...(provenance === undefined ? {} : { provenance }),
    method: calibration.method,
    margin: { ...INITIAL_POLICY.margin, standardErrors: STANDARD_ERRORS },
    coldStart: { advertise: "nothing", mix: mix.about, times: calibration.coldStart },
  };
}

/** RTT and loss as far as cells reach; rates evenly in the logarithm between the slowest and the fastest measured. */
function axesOf(places: readonly Place[], contentBytes: readonly number[]): Axes {
  const rttMax = Math.max(...places.map(({ rttMs }) => rttMs));
  const lossMax = Math.max(...places.map(({ lossRatio }) => lossRatio));
  const rates = places.map(({ deliveryRateBps }) => deliveryRateBps);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  return {
    rttMs: RTT_MS.filter((rttMs, i) => i === 0 || rttMs <= rttMax * 1.2),
    lossRatio: LOSS_RATIO.filter((lossRatio, i) => i === 0 || lossRatio <= lossMax * 1.2),
    deliveryRateBps:
      high > low
        ? Array.from({ length: RATES }, (_, i) => Math.round(low * (high / low) ** (i / (RATES - 1))))
        : [Math.round(low)],
    contentBytes: [...contentBytes],
  };
}

/** Times over RTT and size alone: the mean of the logarithms over the mix, so that halving and doubling weigh the same. */
function coldStartOf(fit: Fit, axes: Axes, { networks }: Mix): TimesLattice | undefined {
  const total = networks.reduce((sum, { weight }) => sum + weight, 0);
  const share = (figure: (times: NodeTimes) => number, all: readonly (NodeTimes | undefined)[]): number =>
    all.reduce((sum, times, i) => {
      const weight = (networks[i]?.weight ?? 0) / total;
      return sum + weight * (times === undefined ? Number.NaN : figure(times));
    }, 0);
  const mean = (values: (network: Mix["networks"][number]) => number): number =>
    networks.reduce((sum, network) => sum + (network.weight / total) * values(network), 0);
  const only: Axes = {
    ...axes,
    lossRatio: [
      digits(
        mean(({ lossRatio }) => lossRatio),
        4,
      ),
    ],
    deliveryRateBps: [Math.round(mean(({ rateMbps }) => (rateMbps * 1e6) / 8))],
  };
  return latticeOf(only, ({ rttMs, contentBytes }) => {
    const all = networks.map(({ lossRatio, rateMbps }) =>
      fit.at({ rttMs, contentBytes, lossRatio, deliveryRateBps: (rateMbps * 1e6) / 8 }),
    );
    if (all.some((times) => times === undefined)) return undefined;
    return {
      stay: share(({ stay }) => stay, all),
      switchSaving: share(({ switchSaving }) => switchSaving, all),
      coldSaving: share(({ coldSaving }) => coldSaving, all),
      switchSe: share(({ switchSe }) => switchSe, all),
      coldSe: share(({ coldSe }) => coldSe, all),
      supported: all.every((times) => times?.supported),
    };
  });
}
