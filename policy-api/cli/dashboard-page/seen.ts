import type { Stats } from "../../api/contract/deployment.ts";
import { decide } from "../../decision/decide.ts";
import type { History } from "../../decision/facts.ts";
import { LOSS_NODES } from "../../decision/loss-nodes.ts";
import type { Policy } from "../../decision/policy.ts";
import { RTT_BOUNDS_MS, UNKNOWN } from "../../api/counters/families.ts";
import { percent } from "../quantities.ts";
import { element, tableOf } from "./elements.ts";

/** Of a client whose loss is known: enough to be believed. */
const PACKETS = 10_000;
/** A class of RTT is asked for at this multiple of its lower bound; the first one at the second's half. */
const INSIDE = 1.2;

const LOSSES: readonly string[] = [UNKNOWN, ...LOSS_NODES.map(String)];

interface Cell {
  readonly rtt: string;
  readonly loss: string;
  /** Of all pages. */
  readonly share: number;
  readonly pages: number;
  readonly offered: number;
  /** What the policy answers a client there; undefined where the policy cannot be read. */
  readonly answer: "h3" | "nothing" | "clear" | undefined;
}

/** Where pages come from, and what the policy of everyone answers there. */
export function cellsOf(counts: Stats["totals"], policy: Policy | undefined): Cell[] {
  const seen = counts.filter(({ counter }) => counter === "clients_seen");
  const all = seen.reduce((sum, { count }) => sum + count, 0);
  return LOSSES.flatMap((loss) =>
    RTT_BOUNDS_MS.map((bound): Cell => {
      const rtt = String(bound);
      const here = seen.filter(({ labels }) => labels["rtt_ms"] === rtt && labels["loss"] === loss);
      const pages = here.reduce((sum, { count }) => sum + count, 0);
      const offered = here.reduce((sum, { labels, count }) => sum + (labels["answer"] === "h3" ? count : 0), 0);
      return {
        rtt,
        loss,
        pages,
        offered,
        share: all === 0 ? 0 : pages / all,
        answer: policy && answerAt(policy, bound, loss),
      };
    }),
  );
}

function answerAt(policy: Policy, bound: number, loss: string): Cell["answer"] {
  const rttMs = bound === 0 ? (RTT_BOUNDS_MS[1] ?? 1) / 2 : bound * INSIDE;
  const request = { transport: "tcp", rttMs, path: "/" } as const;
  const one = { transport: "tcp", ageMs: 0, packets: PACKETS, lost: Number(loss) * PACKETS, rttMs } as const;
  const history: History = loss === UNKNOWN ? { state: "unknown" } : { state: "known", connections: [one] };
  return decide(request, history, policy, 0, undefined).advertise.kind;
}

/** As a table: a row for each class of RTT, a column for each loss. @param version Everyone's; undefined if it is not known */
export function seenTable(cells: readonly Cell[], version: number | undefined): Node {
  const most = Math.max(...cells.map(({ share }) => share));
  const rows = RTT_BOUNDS_MS.map((bound): [string, ...HTMLTableCellElement[]] => [
    `${bound} ms`,
    ...cells.filter((cell) => cell.rtt === String(bound)).map((cell) => cellOf(cell, most)),
  ]);
  const losses = LOSSES.map((loss) => (loss === UNKNOWN ? "not known" : loss === "0" ? "none" : percent(Number(loss))));
  const whose = `Version ${version}, everyone's, offers HTTP/3 on the path /`;
  const offers = cells.some(({ answer }) => answer === "h3")
    ? `${whose} where it is outlined, to a client whose loss is that of TCP.`
    : `${whose} to none of these.`;
  const outlined = version === undefined ? "" : ` ${offers}`;
  return tableOf(
    `Share of pages, by RTT and loss, each from this value up to the next one.${outlined}`,
    ["RTT", ...losses],
    rows,
  );
}

function cellOf({ pages, share, answer, offered }: Cell, most: number): HTMLTableCellElement {
  const isOffered = answer === "h3";
  const cell = element("td", isOffered ? { class: "offered" } : {}, pages === 0 ? "" : wholePercent(share));
  if (isOffered) cell.append(element("span", { class: "unseen" }, " offered"));
  if (pages > 0) {
    cell.style.background = `rgba(var(--cell), ${(0.08 + 0.45 * (share / most)).toFixed(2)})`;
    cell.title = `${pages} pages, ${offered} of them were offered HTTP/3`;
  }
  return cell;
}

/** As short as a cell on a telephone. */
function wholePercent(share: number): string {
  return share < 0.005 ? "<1 %" : `${Math.round(100 * share)} %`;
}
