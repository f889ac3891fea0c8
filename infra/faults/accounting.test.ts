import { describe, expect, it } from "vitest";
import { Accounting, type Events, excuse, NO_FAULT, quantile, type RequestRecord } from "./accounting.ts";

/** A right answer, 10 ms after 1,000,000. Times below count from there. */
const AT = 1_000_000;
function request(changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    protocol: "h2",
    kind: "get",
    path: "/get/0/1",
    began: AT,
    ended: AT + 10,
    connected: AT - 1_000,
    answered: AT + 2,
    outcome: "right",
    status: 200,
    beyondMs: 10,
    decided: false,
    attempts: 1,
    ...changes,
  };
}

const nothing: Events = { endings: [], deaths: [] };
const workerdEnds = (ms: number): Events => ({ endings: [{ program: "workerd", ms, backMs: ms + 100 }], deaths: [] });
const edgeEnds = (ms: number): Events => ({ endings: [{ program: "edge", ms, backMs: ms + 100 }], deaths: [] });
const udpEnds = (ms: number): Events => ({ endings: [{ program: "udp", ms }], deaths: [] });
const originDies = (ms: number): Events => ({ endings: [], deaths: [{ ms, backMs: ms + 1_000 }] });

describe("excuse", () => {
  const begun = request({ outcome: "aborted" });
  const unbegun = request({ outcome: "aborted", status: 0, answered: 0 });
  it.each<[what: string, record: RequestRecord, events: Events]>([
    ["a response that had begun when workerd ended", begun, workerdEnds(AT + 5)],
    ["a request on a connection to an edge that ended", unbegun, edgeEnds(AT + 5)],
    ["a request long after, on a connection to an edge that ended", unbegun, edgeEnds(AT - 800)],
    ["a connection while the edge is gone", request({ outcome: "refused", connected: 0 }), edgeEnds(AT - 50)],
    [
      "a response whose header the edge had, and the client had not",
      { ...unbegun, answered: AT + 2 },
      workerdEnds(AT + 5),
    ],
    ["a request on a QUIC connection that lost its socket", { ...unbegun, protocol: "h3" }, udpEnds(AT + 5)],
    ["a response that the origin broke off", begun, originDies(AT + 5)],
    ["a 502 while the origin is dead", request({ outcome: "own", status: 502 }), originDies(AT - 500)],
    ["a 502 for a lie", request({ outcome: "own", status: 502, kind: "lie" }), nothing],
  ])("%s", (_, record, events) => {
    expect(excuse(record, events)).toBeDefined();
  });

  it.each<[what: string, record: RequestRecord, events: Events]>([
    ["a wrong answer, whatever happened", request({ outcome: "wrong" }), edgeEnds(AT + 5)],
    ["an abort for no reason", begun, nothing],
    ["a response that had not begun when workerd ended", unbegun, workerdEnds(AT + 5)],
    ["a response that began after workerd had ended", begun, workerdEnds(AT - 500)],
    [
      "a response that the origin began after workerd had ended",
      { ...begun, answered: AT + 600, ended: AT + 700 },
      workerdEnds(AT),
    ],
    ["a request over TCP when the UDP socket is gone", unbegun, udpEnds(AT + 5)],
    ["a QUIC connection to the next UDP socket", { ...unbegun, protocol: "h3", connected: AT - 1 }, udpEnds(AT - 800)],
    ["a GET that gets a 502 when workerd ends", request({ outcome: "own", status: 502 }), workerdEnds(AT + 5)],
    [
      "a POST that gets a 502 when workerd ends",
      request({ kind: "post", outcome: "own", status: 502 }),
      workerdEnds(AT + 5),
    ],
    ["an abort on a connection to the next edge", { ...unbegun, connected: AT - 1 }, edgeEnds(AT - 800)],
    ["an abort before the edge ended", unbegun, edgeEnds(AT + 1_000)],
    ["a refusal when the edge is back", request({ outcome: "refused" }), edgeEnds(AT - 800)],
    ["a 502 when the origin is back", request({ outcome: "own", status: 502 }), originDies(AT - 5_000)],
    ["a response that had not begun when the origin died", unbegun, originDies(AT + 5)],
  ])("not for %s", (_, record, events) => {
    expect(excuse(record, events)).toBeUndefined();
  });
});

describe("Accounting", () => {
  it("counts a request to the fault in which it ended", () => {
    const accounting = new Accounting();
    accounting.add(request());
    accounting.inject("first", AT + 5);
    accounting.add(request());
    accounting.inject("second", AT + 100);
    accounting.add(request({ began: AT + 20, ended: AT + 99 }));
    accounting.add(request({ began: AT + 20, ended: AT + 101 }));
    expect([...accounting.counts].map(([name, { requests }]) => [name, requests])).toEqual([
      [NO_FAULT, 1],
      ["first", 2],
      ["second", 1],
    ]);
    expect(accounting.report()).toEqual([]);
  });

  it("counts how many a fault has had in this round", () => {
    const accounting = new Accounting();
    for (const atMs of [AT - 5, AT + 1_000]) {
      accounting.inject("fault", atMs);
      expect(accounting.inPhase).toBe(0);
      accounting.add(request({ began: atMs, ended: atMs + 10 }));
      accounting.add(request({ began: atMs - 20, ended: atMs - 1 }));
      expect(accounting.inPhase).toBe(1);
    }
  });

  it("says when the first navigation was decided that began after healing", () => {
    const accounting = new Accounting();
    const page = { kind: "page", decided: true };
    accounting.inject("fault", AT);
    accounting.add(request({ ...page, began: AT + 1, ended: AT + 2 }));
    accounting.heal(AT + 100);
    accounting.add(request({ ...page, began: AT + 99, ended: AT + 110 }));
    accounting.add(request({ began: AT + 105, ended: AT + 110, decided: true }));
    accounting.add(request({ kind: "page", began: AT + 105, ended: AT + 110 }));
    expect(accounting.decided).toBe(false);
    accounting.add(request({ ...page, began: AT + 120, ended: AT + 130 }));
    accounting.add(request({ ...page, began: AT + 140, ended: AT + 150 }));
    expect(accounting.decided).toBe(true);
    expect(accounting.counts.get("fault")?.decidingMs).toEqual([30]);
  });

  it("keeps the times of requests that began while workerd was known to be gone", () => {
    const accounting = new Accounting();
    accounting.add(request({ beyondMs: 1 }));
    accounting.workerdGone(AT + 100);
    accounting.add(request({ began: AT + 99, ended: AT + 900, beyondMs: 2 }));
    accounting.add(request({ began: AT + 100, ended: AT + 110, beyondMs: 3 }));
    accounting.add(request({ began: AT + 120, ended: AT + 130, outcome: "own", status: 503, beyondMs: 4 }));
    accounting.workerdBack(AT + 200);
    accounting.add(request({ began: AT + 199, ended: AT + 300, beyondMs: 5 }));
    accounting.add(request({ began: AT + 200, ended: AT + 300, beyondMs: 6 }));
    expect(accounting.beyondWhileGoneMs).toEqual([3, 5]);
  });

  it("reports what is not excused, alike ones once", () => {
    const accounting = new Accounting();
    accounting.inject("fault", AT - 10);
    for (const bytes of [123, 45_678])
      accounting.add(request({ outcome: "wrong", what: `cut off without a sign after ${bytes} bytes` }));
    accounting.add(request({ outcome: "own", status: 503, began: AT - 900, ended: AT - 5 }));
    accounting.deaths.push({ ms: AT + 2_000, backMs: AT + 2_100 });
    accounting.add(request({ outcome: "own", status: 502, began: AT + 2_020, ended: AT + 2_030 }));
    accounting.add(request({ outcome: "own", status: 502, began: AT + 5_000, ended: AT + 5_010 }));
    accounting.settle();
    expect([...accounting.excused]).toEqual([["fault: a 502 of ours, because the origin was dead", 1]]);
    const report = accounting.report();
    expect(report).toHaveLength(3);
    expect(report[0]).toMatch(
      /^2 x fault: wrong, get over h2: cut off without a sign after # bytes\n {4}such as \{.*"sinceMs":10/,
    );
    expect(report[1]).toMatch(/^1 x fault: a 503 of ours, get over h2/);
  });
});

it("a quantile is one of the values", () => {
  expect(quantile([], 0.5)).toBeUndefined();
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([3, 1, 2], 0.99)).toBe(3);
  expect(quantile([7], 0)).toBe(7);
});
