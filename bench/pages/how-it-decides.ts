import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { BURST_POWER, FLOOR } from "../../policy-api/decision/belief.ts";
import { decide } from "../../policy-api/decision/decide.ts";
import { FIGURES, figuresAt, gridOf, overNodes } from "../../policy-api/decision/gain-table.ts";
import { LOSS_NODES } from "../../policy-api/decision/loss-nodes.ts";
import { parsePolicy, type Policy } from "../../policy-api/decision/policy.ts";
import { policyGainsTable } from "../analysis/senders/gains-table.ts";
import { size as sizeText } from "../analysis/tables/format.ts";
import { tableOf } from "../analysis/tables/table-of.ts";
import { fillFile } from "../analysis/tables/template.ts";

const BYTES = 1_000_000;
/** A client that lost a few of a page's packets: where neither answer is plain. */
const EXAMPLE = { rttMs: 100, packets: 700, lost: 3 } as const;

export const PAGE = join(ROOT, "docs/how-it-decides.md");

export function writePage(): void {
  writeFileSync(PAGE, pageOf(shownPolicy()));
  console.log("Written: docs/how-it-decides.md.");
}

/** docs/how-it-decides.md, with the gain table of a shipped policy and a decision by it. */
export function pageOf(policy: Policy): string {
  return fillFile("bench/pages/how-it-decides.md", decidesValues(policy));
}

/** The policy that the page shows. */
export function shownPolicy(): Policy {
  const parsed = parsePolicy(JSON.parse(readFileSync(join(ROOT, "policy-api/policies/cubic.json"), "utf8")));
  if (!parsed.ok) throw new Error("policy-api/policies/cubic.json is no policy.");
  return parsed.value;
}

/** The values of how-it-decides.md: the table of one stack, and one decision by it, step by step. */
export function decidesValues(policy: Policy) {
  const { method, visit, margin } = policy;
  if (method?.kind !== "gains") throw new Error("The shown policy has no gain table.");
  const { table } = method;
  const { rttMs, packets, lost } = EXAMPLE;
  const request = { transport: "tcp", path: "/", rttMs } as const;
  const history = { state: "known", connections: [{ transport: "tcp", ageMs: 0, packets, lost }] } as const;
  const told = { ...policy, contentBytes: { default: BYTES, routes: [] }, visit };
  const decision = decide(request, history, told, 0, undefined);
  const { belief, next, return: again, pages = 0, returns = 0, price = 0, saving, advertise } = decision;
  const prior = overNodes(table.lossRatio, method.mix);
  const [gains] = figuresAt(gridOf(table), rttMs, BYTES);
  const likelihoods = LOSS_NODES.map((loss) => {
    const q = Math.max(loss, FLOOR);
    return Math.exp(BURST_POWER * (lost * Math.log(q) + (packets - lost) * Math.log1p(-q)));
  });
  const most = Math.max(...likelihoods);
  return {
    size: sizeText(BYTES),
    next: policyGainsTable(table, table.next, table.contentBytes.indexOf(BYTES)),
    example: {
      rtt: rttMs,
      packets,
      lost,
      table: tableOf(
        [...LOSS_NODES.keys()],
        [
          ["loss", (node) => lossText(node)],
          ["prior", (node) => figure(prior[node])],
          ["likelihood", (node) => figure((likelihoods[node] ?? 0) / most)],
          ["weight", (node) => figure(belief?.weights[node])],
          ["next page", (node) => figure(gains[FIGURES.next + node])],
          ["return", (node) => figure(gains[FIGURES.return + node])],
        ],
      ),
      nextGain: figure(next?.gain),
      returnGain: figure(again?.gain),
      maS: advertise.kind === "h3" ? advertise.maS : policy.ma.minS,
      pages: pages.toFixed(1),
      returns: returns.toFixed(2),
      price: figure(price),
      priceTerm: price < 0 ? `(${figure(price)})` : figure(price),
      changed: (pages + returns).toFixed(2),
      saving: figure(saving?.gain),
      enter: margin.enter,
      answer: advertise.kind === "h3" ? "offered" : "not offered",
    },
  };
}

function lossText(node: number): string {
  return `${100 * (LOSS_NODES[node] ?? 0)} %`;
}

function figure(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(3);
}
