import type { OpenAPIHono } from "@hono/zod-openapi";
import { getProposal, getResults } from "./contract/results.ts";
import type { StoredVersion } from "../decision/versions.ts";
import { Gathered } from "../visitors/gathered.ts";
import { type Proposal, propose } from "../visitors/propose.ts";
import { learningOf, type Objects, type Results, resultsOf, type Slice } from "../visitors/results.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { versionOf } from "./policies.ts";
import type { OutcomesPort, PolicyApiPorts } from "./ports.ts";
import { Problem } from "./problem.ts";
import type * as shown from "./contract/results.ts";
import { type ArmFigures, armFiguresOf, type LoadTimes } from "../visitors/arm-figures.ts";
import type { Estimate } from "../visitors/arms.ts";
import type { Claim, Comparison } from "../visitors/compare.ts";
import type { Harm } from "../visitors/harm.ts";
import { type Objection, objectionText } from "../visitors/objections.ts";
import { RTT_CLASS_MS, rttClassText } from "../visitors/rtt-classes.ts";
import type { StackChange } from "../visitors/stack-change.ts";
import type { UseChange } from "../visitors/use-change.ts";
import { savedBy, slowedText } from "../visitors/saved.ts";
import { sentenceOf } from "../visitors/sentence.ts";
import type { GainTable } from "../decision/gain-table.ts";

// What visitors' pages reported, and what follows from it.

export function addResults(api: OpenAPIHono<ApiEnv>): void {
  api.openapi(guarded(getResults), async (c) => {
    const { outcomes, store } = c.get("ports");
    const { version, policy } = await chosenVersion(c.req.valid("query").version, store);
    const { rows, objects } = await outcomes.outcomes(version.version);
    const results = resultsOf(new Gathered(version.version, rows), policy, objects);
    const table = policy?.method?.kind === "gains" ? policy.method.table : undefined;
    return c.json(resultsView(results, table, outcomes), 200);
  });

  api.openapi(guarded(getProposal), async (c) => {
    const { outcomes, store } = c.get("ports");
    const { version, policy, fault } = await chosenVersion(c.req.valid("query").version, store);
    if (policy === undefined) throw new Problem(422, `version ${version.version} ${fault}`);
    const { rows, objects } = await outcomes.outcomes(version.version);
    const proposal = propose(learningOf(new Gathered(version.version, rows), policy));
    return c.json(proposalView(version.version, proposal, objects), 200);
  });
}

/** The version of this number, or the one that is in force for everyone. @throws Problem */
async function chosenVersion(number: number | undefined, store: PolicyApiPorts["store"]): Promise<StoredVersion> {
  if (number !== undefined) return versionOf(store, number, "/query/version");
  const activation = await store.activation();
  if (activation === undefined) throw new Problem(503, "the policy in force cannot be read: name a version");
  return versionOf(store, activation.everyone, "/query/version");
}

// Results as the API shows them. What is not known, and what JSON cannot write, is null.

/** @param table The version's, if it has one. */
function resultsView(
  results: Results,
  table: GainTable | undefined,
  here: Pick<OutcomesPort, "reportsHere" | "droppedHere">,
): shown.Results {
  const {
    version,
    objects,
    grounds,
    harm,
    isHarmComparable,
    change,
    unused,
    everyone,
    staying,
    rttClasses,
    cells,
    systems,
    systemsLeftOut,
  } = results;
  const { share, expectedShare } = grounds.sampleRatio;
  const changeText = change && stackChangeText(change);
  const unusedText = unused && useChangeText(unused);
  return {
    version,
    objects: { ...objects },
    // What is claimed is of both times together where something changed.
    sentence: [sentenceOf(results), changeText, unusedText].filter((text) => text !== undefined).join(" "),
    harm: harm === undefined ? null : { kind: harm.kind, text: harmText(harm) },
    harmComparable: isHarmComparable,
    change:
      change === undefined || changeText === undefined
        ? null
        : { since: new Date(change.sinceMs).toISOString(), text: changeText },
    unused:
      unused === undefined || unusedText === undefined
        ? null
        : { since: new Date(unused.sinceMs).toISOString(), text: unusedText },
    everyone: sliceView(everyone),
    staying: estimateView(staying),
    grounds: {
      offeredShare: finite(share),
      expectedShare,
      http3Elsewhere: finite(grounds.elsewhere),
      objections: grounds.objections.map(objectionView),
    },
    rttClasses: rttClasses.map((slice, rttClass) => ({
      fromMs: RTT_CLASS_MS[rttClass - 1] ?? 0,
      toMs: RTT_CLASS_MS[rttClass] ?? null,
      ...sliceView(slice),
    })),
    cells: cells.map(({ cell, slice }) => ({
      position: cell.position,
      rttMs: table?.rttMs[cell.rtt] ?? 0,
      contentBytes: table?.contentBytes[cell.size] ?? 0,
      lossRatio: cell.loss === undefined ? null : (table?.lossRatio[cell.loss] ?? null),
      ...sliceView(slice),
    })),
    autonomousSystems: systems.map(({ asn, slice }) => ({ asn, ...sliceView(slice) })),
    autonomousSystemsLeftOut: systemsLeftOut,
    reportsHere: Object.entries(here.reportsHere()).map(([fate, count]) => ({ fate, count })),
    droppedHere: Object.entries(here.droppedHere()).map(([cause, count]) => ({ cause, count })),
  };
}

function harmText({ kind, interval }: Harm): string {
  const share = (value: number): string => (value * 100).toFixed(1);
  return kind === "slower"
    ? `Where this version offers HTTP/3, pages take ${slowedText(interval)} longer.`
    : `Where this version offers HTTP/3, ${share(interval.low)} to ${share(interval.high)} percentage points more of the pages do not report.`;
}

function stackChangeText({ sinceMs, rttClass, before, since }: StackChange): string {
  const day = new Date(sinceMs).toISOString().slice(0, 10);
  return (
    `Since ${day} HTTP/3's effect is another one: of visitors with RTTs of ${rttClassText(rttClass)}, ` +
    `next pages over it took ${timesText(before)} of HTTP/2's time, and now they take ${timesText(since)}. ` +
    "The server may have changed, the way to it, or which pages visitors open."
  );
}

function useChangeText({ sinceMs, before, since }: UseChange): string {
  const share = ({ value }: Estimate): string => (100 * Math.max(0, value)).toFixed(0);
  return (
    `Since ${new Date(sinceMs).toISOString().slice(0, 10)} offers are hardly followed any more: they brought ${share(before)} % of next ` +
    `pages over to HTTP/3, and now ${share(since)} %. HTTP/3 may have stopped working: run the doctor.`
  );
}

function timesText({ value, low, high }: Estimate): string {
  const times = (gain: number): string => Math.exp(-gain).toFixed(2);
  return `${times(value)} (${times(high)} to ${times(low)})`;
}

function proposalView(version: number, proposal: Proposal, { asked, answered }: Objects): shown.Proposal {
  const of = { version, objects: { asked, answered } };
  switch (proposal.kind) {
    case "proposed": {
      const { kind, policy, clients, changes, expectation } = proposal;
      return {
        kind,
        ...of,
        policy,
        clients,
        changes: changes.map(({ contentBytes = null, lossRatio = null, ...change }) => ({
          ...change,
          contentBytes,
          lossRatio,
        })),
        gain: { ...expectation.gain },
        turned: expectation.turned.map((one) => ({ ...one })),
      };
    }
    case "no-gain-table":
      return { kind: proposal.kind, ...of, why: "The version decides by no gain table." };
    case "not-comparable":
      return { kind: proposal.kind, ...of, why: proposal.objections.map(objectionText).join(" ") };
    case "changed":
      return {
        kind: proposal.kind,
        ...of,
        why: `${stackChangeText(proposal.change)} Give the policy another \`source\`, push and activate it: its results begin anew.`,
      };
    case "no-evidence":
      return {
        kind: proposal.kind,
        ...of,
        why: "The cells of the gain table do not have 100 clients in each arm whose protocol the offer changed.",
      };
  }
}

function sliceView({ arms: { offered, withheld }, load, lcp }: Slice): shown.Slice {
  return {
    offered: armView(armFiguresOf(offered)),
    withheld: armView(armFiguresOf(withheld)),
    primary: estimateView(load.primary),
    load: comparedView(load),
    lcp: comparedView(lcp),
  };
}

function armView({ overH3, load, lcp, ...figures }: ArmFigures): shown.Slice["offered"] {
  return { ...figures, overH3: finite(overH3), load: tookView(load), lcp: tookView(lcp) };
}

function tookView(took: LoadTimes | undefined): shown.Slice["offered"]["load"] {
  return took === undefined ? null : { ...took };
}

function comparedView({ effect, withMissing, claim }: Comparison): shown.Slice["load"] {
  const saved = effect &&
    withMissing && {
      value: savedBy(effect.gain.value),
      low: savedBy(withMissing.gain.low),
      high: savedBy(withMissing.gain.high),
    };
  return {
    gain: estimateView(effect?.gain),
    saved: saved !== undefined && Object.values(saved).every(Number.isFinite) ? saved : null,
    ofChanged: estimateView(effect?.local),
    claim: claimView(claim),
  };
}

function claimView(claim: Claim): shown.Slice["load"]["claim"] {
  if (claim.kind === "none")
    return { kind: "none", interval: null, withstandsLies: null, objections: claim.objections.map(objectionView) };
  const { kind, interval, withstandsLies } = claim;
  return { kind, interval: { ...interval }, withstandsLies, objections: [] };
}

function objectionView(objection: Objection): { kind: Objection["kind"]; text: string } {
  return { kind: objection.kind, text: objectionText(objection) };
}

function estimateView(estimate: Estimate | undefined): shown.Results["staying"] {
  if (estimate === undefined) return null;
  const { value, se, low, high } = estimate;
  return [value, se, low, high].every(Number.isFinite) ? { value, se, low, high } : null;
}

function finite(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null;
}
