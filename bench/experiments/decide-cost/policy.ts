import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../base/root.ts";
import { UserError } from "../../../base/user-error.ts";
import { parsePolicy } from "../../../policy-api/core/parse-policy.ts";
import { INITIAL_POLICY, type Policy } from "../../../policy-api/core/policy.ts";
import type { TimesLattice } from "../../../policy-api/core/times.ts";
import { contentRoutes } from "../../model/content.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";

const CALIBRATED = "policy-api/policies/cubic.json";

export interface MeasuredPolicy {
  readonly name: string;
  readonly policy: Policy;
  readonly tcp: TimesLattice;
  readonly quic: TimesLattice;
}

/** The policy that was calibrated, or where there is none one of the same shape. @throws UserError where it is broken */
export function measuredPolicy(file = join(ROOT, CALIBRATED)): MeasuredPolicy {
  if (!existsSync(file)) return withLattices("synthetic", syntheticPolicy());
  const parsed = parsePolicy(JSON.parse(readFileSync(file, "utf8")));
  if (!parsed.ok) throw new UserError(`${file} is no policy: ${JSON.stringify(parsed.faults)}`);
  return withLattices(CALIBRATED, parsed.value);
}

function withLattices(name: string, given: Policy): MeasuredPolicy {
  const { method } = given;
  const tcp = method?.kind === "times" ? (method.tcp ?? method.quic) : undefined;
  const quic = method?.kind === "times" ? (method.quic ?? method.tcp) : undefined;
  if (tcp === undefined || quic === undefined) throw new UserError(`The policy ${name} has no times.`);
  const policy: Policy = {
    ...given,
    mode: "adaptive",
    contentBytes: { default: 1_000_000, routes: contentRoutes() },
    // On, so that what it takes is in the figures.
    exploration: { share: 0.02 },
  };
  return { name, policy, tcp, quic };
}

export function syntheticPolicy(): Policy {
  return { ...INITIAL_POLICY, mode: "adaptive", method: { kind: "times", tcp: lattice("tcp"), quic: lattice("quic") } };
}

/** Any times will do: what a look-up costs does not depend on them. */
function lattice(name: string): TimesLattice {
  const axes = {
    rttMs: [0.5, 5, 15, 40, 90, 200],
    lossRatio: [0, 0.003, 0.01, 0.02, 0.035, 0.06],
    deliveryRateBps: [1e6, 2.5e6, 6e6, 1.2e7, 2.5e7, 5e7],
    contentBytes: [1e5, 1e6, 1e7],
  };
  const nodes = Object.values(axes).reduce((product, axis) => product * axis.length, 1);
  const random = seededRandom(1, "decide-cost", name);
  const draw = (low: number, high: number): number[] =>
    Array.from({ length: nodes }, () => low + (high - low) * random());
  return {
    ...axes,
    stayMs: draw(100, 5_000),
    switchMs: draw(100, 5_000),
    coldMs: draw(100, 5_000),
    switchSe: draw(0.02, 0.2),
    coldSe: draw(0.02, 0.2),
    supported: Array.from({ length: nodes }, () => 1),
  };
}
