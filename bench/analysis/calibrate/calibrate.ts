import type { Policy, Provenance } from "../../../policy-api/core/policy.ts";
import { INITIAL_POLICY } from "../../../policy-api/core/policy.ts";
import type { TimesLattice } from "../../../policy-api/core/times.ts";
import type { CalibrationCell } from "./cells.ts";
import { type Axes, digits, type Fit, fitTimes, latticeOf } from "./fit.ts";
import type { Mix } from "./mixes.ts";

export type Calibration = NonNullable<ReturnType<typeof calibrate>>;

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
export function calibrate(cells: readonly CalibrationCell[], mix: Mix) {
  const tcp = fitTimes(cells, ({ measured }) => measured.tcp);
  const quic = fitTimes(cells, ({ measured }) => measured.quic);
  const configured = fitTimes(cells, (cell) => cell.configured);
  if (tcp === undefined || quic === undefined || configured === undefined) return undefined;
  return {
    method: { kind: "times" as const, tcp: latticeOf(axesOf(tcp), tcp.at), quic: latticeOf(axesOf(quic), quic.at) },
    coldStart: coldStartOf(configured, mix),
    validation: { tcp: tcp.validation, quic: quic.validation, configured: configured.validation },
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
function axesOf({ nodes }: Fit): Axes {
  const rttMax = Math.max(...nodes.map(({ rttMs }) => rttMs));
  const lossMax = Math.max(...nodes.map(({ lossRatio }) => lossRatio));
  const rates = nodes.map(({ deliveryRateBps }) => deliveryRateBps);
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  return {
    rttMs: RTT_MS.filter((rttMs, i) => i === 0 || rttMs <= rttMax * 1.2),
    lossRatio: LOSS_RATIO.filter((lossRatio, i) => i === 0 || lossRatio <= lossMax * 1.2),
    deliveryRateBps:
      high > low
        ? Array.from({ length: RATES }, (_, i) => Math.round(low * (high / low) ** (i / (RATES - 1))))
        : [Math.round(low)],
    contentBytes: [...new Set(nodes.map(({ contentBytes }) => contentBytes))].sort((a, b) => a - b),
  };
}

/** Times over RTT and size alone: the mean of the logarithms over the mix, so that halving and doubling weigh the same. */
function coldStartOf(fit: Fit, { networks }: Mix): TimesLattice {
  const total = networks.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (values: readonly number[]): number =>
    networks.reduce((sum, { weight }, i) => sum + (weight / total) * (values[i] ?? Number.NaN), 0);
  const axes = {
    ...axesOf(fit),
    lossRatio: [digits(mean(networks.map(({ lossRatio }) => lossRatio)), 4)],
    deliveryRateBps: [Math.round(mean(networks.map(({ rateMbps }) => (rateMbps * 1e6) / 8)))],
  };
  return latticeOf(axes, ({ rttMs, contentBytes }) => {
    const all = networks.map(({ lossRatio, rateMbps }) =>
      fit.at({ rttMs, contentBytes, lossRatio, deliveryRateBps: (rateMbps * 1e6) / 8 }),
    );
    return {
      stay: mean(all.map(({ stay }) => stay)),
      switchSaving: mean(all.map(({ switchSaving }) => switchSaving)),
      coldSaving: mean(all.map(({ coldSaving }) => coldSaving)),
      switchSe: mean(all.map(({ switchSe }) => switchSe)),
      coldSe: mean(all.map(({ coldSe }) => coldSe)),
      supported: all.every(({ supported }) => supported),
    };
  });
}
