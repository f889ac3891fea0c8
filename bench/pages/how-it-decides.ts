import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { LINES, RATE_MAX, ROUNDS } from "../../policy-api/decision/ceiling.ts";
import { decide, type Decision } from "../../policy-api/decision/decide.ts";
import { parsePolicy, type Policy } from "../../policy-api/decision/policy.ts";
import { fitOf, type Kind, LEAN_MIX, placesIn } from "../analysis/calibrate/lean.ts";
import { size as sizeText } from "../analysis/tables/format.ts";
import { type Column, tableOf } from "../analysis/tables/table-of.ts";
import { fillFile } from "../analysis/tables/template.ts";

/** A new visitor far enough for HTTP/3 to gain, and one nearby, of large files, whose line has shown its rate. */
const EXAMPLES = {
  far: { rttMs: 100, contentBytes: 1_000_000 },
  fast: { rttMs: 10, contentBytes: 10_000_000, deliveryRateBps: 500e6 / 8 },
} as const;

export const PAGE = join(ROOT, "docs/how-it-decides.md");

export function writePage(): void {
  writeFileSync(PAGE, pageOf(shownPolicy()));
  console.log("Written: docs/how-it-decides.md.");
}

/** docs/how-it-decides.md, with the gain table of a shipped policy and decisions by it. */
export function pageOf(policy: Policy): string {
  return fillFile("bench/pages/how-it-decides.md", decidesValues(policy));
}

/** The policy that the page shows. */
export function shownPolicy(): Policy {
  const parsed = parsePolicy(JSON.parse(readFileSync(join(ROOT, "policy-api/policies/cubic.json"), "utf8")));
  if (!parsed.ok) throw new Error("policy-api/policies/cubic.json is no policy.");
  return parsed.value;
}

/** The values of how-it-decides.md: the table of one stack, and two decisions by it. */
export function decidesValues(policy: Policy) {
  const { method, margin } = policy;
  if (method?.kind !== "gains" || method.ceilingBps === undefined) throw new Error("The shown policy is not lean.");
  const { table, ceilingBps } = method;
  const much = table.lossRatio.length - 1;
  const columns = table.rttMs.map((rttMs, rtt): Column<number> => [
    `${rttMs} ms`,
    (size) => figure(table.next.gain[size]?.[0]?.[rtt]),
  ]);
  const figures = (kind: Kind) => fitOf(placesIn(table, LEAN_MIX, kind), kind, true);
  const [next, again] = [figures("next"), figures("return")];
  return {
    next: next.gain.toFixed(2),
    return: again.gain.toFixed(2),
    nextCost: next.cost.toFixed(2),
    returnCost: again.cost.toFixed(2),
    loss: `${100 * (table.lossRatio[much] ?? 0)} %`,
    lossyNext: figure(table.next.gain[0]?.[much]?.[0]),
    lossyReturn: figure(table.return.gain[0]?.[much]?.[0]),
    table: tableOf(
      [...table.contentBytes.keys()],
      [["page", (size) => sizeText(table.contentBytes[size] ?? 0)], ...columns],
    ),
    ceiling: mbps(ceilingBps),
    rounds: ROUNDS,
    rateMax: RATE_MAX,
    lines: LINES.map(({ rateBps, share }) => `${100 * share} % about ${mbps(rateBps)}`).join(", "),
    enter: margin.enter,
    far: exampleOf(policy, EXAMPLES.far),
    fast: exampleOf(policy, EXAMPLES.fast),
  };
}

function exampleOf(
  policy: Policy,
  { rttMs, contentBytes, deliveryRateBps }: (typeof EXAMPLES)[keyof typeof EXAMPLES] & { deliveryRateBps?: number },
) {
  const told = { ...policy, contentBytes: { default: contentBytes, routes: [] } };
  const reached = deliveryRateBps === undefined ? {} : { deliveryRateBps };
  const one = { transport: "tcp", ageMs: 0, packets: 0, lost: 0, ...reached } as const;
  const history = { state: "known", connections: [one] } as const;
  const decision = decide({ transport: "tcp", path: "/", rttMs }, history, told, 0, undefined);
  const { next, return: again, ceiling = 0, price = 0, pages = 0, returns = 0, saving, advertise }: Decision = decision;
  return {
    rtt: rttMs,
    size: sizeText(contentBytes),
    line: deliveryRateBps === undefined ? "unknown" : mbps(deliveryRateBps),
    ceiling: figure(ceiling),
    next: figure(next?.gain),
    return: figure(again?.gain),
    pages: pages.toFixed(1),
    returns: returns.toFixed(2),
    price: price < 0 ? `(${figure(price)})` : figure(price),
    changed: (pages + returns).toFixed(2),
    saving: figure(saving?.gain),
    answer: advertise.kind === "h3" ? `offered, for ${advertise.maS} s` : "not offered",
  };
}

function mbps(bytesPerSecond: number): string {
  return `${(bytesPerSecond * 8) / 1e6} Mbit/s`;
}

function figure(value: number | undefined): string {
  return value === undefined ? "-" : value.toFixed(3);
}
