import { mean } from "../statistics/summary.ts";
import type { LoadRow } from "../../model/load-row.ts";

/**
 * The same loads, each with the mean first handshake of all that begin alike in the place of its own.
 *
 * The first handshake comes before any decision, so that it tells nothing of one; but a SYN that was lost costs a second
 * (RFC 6298 section 2.1), where a page may take ten milliseconds. What follows the handshake is left as it was.
 *
 * @param others loads of other arms that begin on the same protocol in the same network
 */
export function withCommonHandshake(rows: readonly LoadRow[], ...others: readonly (readonly LoadRow[])[]): LoadRow[] {
  const handshakes = [rows, ...others].flat().flatMap(({ handshakeMs }) => handshakeMs ?? []);
  if (handshakes.length === 0) return [...rows];
  const common = mean(handshakes);
  return rows.map((row) => {
    if (row.handshakeMs === null || row.loadMs === null || row.outcome !== "ok") return row;
    const moved = common - row.handshakeMs;
    const [first = "", ...later] = row.pagesMs.split(";");
    const pagesMs = first === "" ? "" : [String(Number(first) + moved), ...later].join(";");
    return { ...row, loadMs: row.loadMs + moved, pagesMs };
  });
}
