import type * as shown from "./contract/results.ts";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { GainTable } from "../decision/gain-table.ts";
import type { StoredVersion } from "../decision/versions.ts";
import { type Comparison, type Objection, objectionText } from "../visitors/compare.ts";
import type { StackChange, UseChange } from "../visitors/effect-changes.ts";
import { Gathered } from "../visitors/gathered.ts";
import type { Harm } from "../visitors/harm.ts";
import { type Estimate, ofEach } from "../visitors/intervals.ts";
import { type Proposal, propose } from "../visitors/propose.ts";
import { armFiguresOf, learningOf, type Results, resultsOf, type Slice } from "../visitors/results.ts";
import { RTT_CLASS_MS, rttClassText } from "../visitors/row-keys.ts";
import { savedBy, sentenceOf, slowedText } from "../visitors/sentence.ts";
import { type ApiEnv, guarded } from "./authenticate.ts";
import { getProposal, getResults } from "./contract/results.ts";
import { versionOf } from "./policies.ts";
import type { OutcomesPort, PolicyApiPorts } from "./ports.ts";
import { Problem } from "./problem.ts";

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
    return c.json({ version: version.version, objects, ...proposalView(proposal) }, 200);
  });
}

/** The version of this number, or the one that is in force for everyone. @throws Problem */
async function chosenVersion(number: number | undefined, store: PolicyApiPorts["store"]): Promise<StoredVersion> {
  if (number !== undefined) return versionOf(store, number, "/query/version");
  const activation = await store.activation();
  if (activation === undefined) throw new Problem(503, "the policy in force cannot be read: name a version");
  return versionOf(store, activation.everyone, "/query/version");
}

/** @param table The version's, if it has one. */
function resultsView(results: Results, table: GainTable | undefined, here: OutcomesPort): shown.Results {
  const { version, objects, staying, grounds, harm, change, unused, cells, systems } = results;
  const changeText = change && stackChangeText(change);
  const unusedText = unused && useChangeText(unused);
  return withNulls({
    version,
    objects,
    // What is claimed is of both times together where something changed.
    sentence: [sentenceOf(results), changeText, unusedText].filter((text) => text !== undefined).join(" "),
    harm: harm && { kind: harm.kind, text: harmText(harm) },
    harmComparable: results.isHarmComparable,
    change: change && { since: new Date(change.sinceMs).toISOString(), text: stackChangeText(change) },
    unused: unused && { since: new Date(unused.sinceMs).toISOString(), text: useChangeText(unused) },
    everyone: sliceView(results.everyone),
    staying,
    grounds: {
      offeredShare: grounds.sampleRatio.share,
      expectedShare: grounds.sampleRatio.expectedShare,
      http3Elsewhere: grounds.elsewhere,
      objections: grounds.objections.map(objectionView),
    },
    rttClasses: results.rttClasses.map((slice, rttClass) => ({
      fromMs: RTT_CLASS_MS[rttClass - 1] ?? 0,
      toMs: RTT_CLASS_MS[rttClass],
      ...sliceView(slice),
    })),
    cells: cells.map(({ cell: { position, rtt, size, loss }, slice }) => ({
      position,
      rttMs: table?.rttMs[rtt] ?? 0,
      contentBytes: table?.contentBytes[size] ?? 0,
      lossRatio: loss === undefined ? undefined : table?.lossRatio[loss],
      ...sliceView(slice),
    })),
    autonomousSystems: systems.map(({ asn, slice }) => ({ asn, ...sliceView(slice) })),
    autonomousSystemsLeftOut: results.systemsLeftOut,
    reportsHere: Object.entries(here.reportsHere()).map(([fate, count]) => ({ fate, count })),
    droppedHere: Object.entries(here.droppedHere()).map(([cause, count]) => ({ cause, count })),
  });
}

type Shown<T> = T extends undefined ? null : T extends object ? { [K in keyof T]: Shown<T[K]> } : T;

/** What is not known, and a figure that JSON cannot write, is null: with it the estimate that it belongs to. */
function withNulls<T>(value: T): Shown<T>;
function withNulls(value: unknown): unknown {
  if (value === undefined || (typeof value === "number" && !Number.isFinite(value))) return null;
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== "object" || value === null) return value;
  const { low = 0, high = 0, se = 0 } = value as Partial<Estimate>;
  if (![low, high, se].every(Number.isFinite)) return null;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNulls(part)]));
}

function sliceView({ arms, load, lcp }: Slice) {
  return {
    ...ofEach(arms, armFiguresOf),
    primary: load.primary,
    load: comparisonView(load),
    lcp: comparisonView(lcp),
  };
}

function comparisonView({ effect, withMissing, claim }: Comparison) {
  return {
    gain: effect?.gain,
    saved: effect &&
      withMissing && {
        value: savedBy(effect.gain.value),
        low: savedBy(withMissing.gain.low),
        high: savedBy(withMissing.gain.high),
      },
    ofChanged: effect?.local,
    claim: {
      interval: undefined,
      withstandsLies: undefined,
      ...claim,
      objections: claim.kind === "none" ? claim.objections.map(objectionView) : [],
    },
  };
}

function objectionView(objection: Objection) {
  return { kind: objection.kind, text: objectionText(objection) };
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

function proposalView(proposal: Proposal) {
  switch (proposal.kind) {
    case "proposed": {
      const { changes, expectation, ...proposed } = proposal;
      return {
        ...proposed,
        changes: changes.map(({ contentBytes = null, lossRatio = null, ...change }) => ({
          ...change,
          contentBytes,
          lossRatio,
        })),
        gain: expectation.gain,
        turned: [...expectation.turned],
      };
    }
    case "no-gain-table":
      return { kind: proposal.kind, why: "The version decides by no gain table." };
    case "not-comparable":
      return { kind: proposal.kind, why: proposal.objections.map(objectionText).join(" ") };
    case "changed":
      return {
        kind: proposal.kind,
        why: `${stackChangeText(proposal.change)} Give the policy another \`source\`, push and activate it: its results begin anew.`,
      };
    case "no-evidence":
      return {
        kind: proposal.kind,
        why: "The cells of the gain table do not have 100 clients in each arm whose protocol the offer changed.",
      };
  }
}
