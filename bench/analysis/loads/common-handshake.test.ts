import { expect, it } from "vitest";
import { withCommonHandshake } from "../evaluation/evaluation.ts";
import { exampleRow } from "../../model/testing.ts";

const load = (loadMs: number, handshakeMs: number | null, pagesMs = "") => exampleRow({ loadMs, handshakeMs, pagesMs });

it("gives every load the mean handshake of all that begin alike, and leaves the rest as it was", () => {
  const stay = [load(50, 10), load(60, 10)];
  const lostSyn = [load(1060, 1010), load(40, 10)];
  expect(withCommonHandshake(stay, lostSyn).map(({ loadMs }) => loadMs)).toEqual([300, 310]);
  expect(withCommonHandshake(lostSyn, stay).map(({ loadMs }) => loadMs)).toEqual([310, 290]);
});

it("moves the first page alone", () => {
  const [row] = withCommonHandshake([load(90, 10, "30;30;30")], [load(50, 30)]);
  expect(row?.pagesMs).toBe("40;30;30");
  expect(row?.loadMs).toBe(100);
});

it("leaves timeouts and what has no handshake as they are", () => {
  const timeout = exampleRow({ loadMs: 60_000, handshakeMs: 1000, outcome: "timeout" });
  expect(withCommonHandshake([timeout, load(5, null)], [load(50, 10)]).map(({ loadMs }) => loadMs)).toEqual([
    60_000, 5,
  ]);
});
