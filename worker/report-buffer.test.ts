import { describe, expect, it } from "vitest";
import type { ClientReport } from "../durable/client-report.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { askedPage, pageNews } from "../policy-api/visitors/testing-pages.ts";
import { FAMILIES } from "../policy-api/api/counters/families.ts";
import { Counters } from "./counters.ts";
import { GATHER_BILLED_MS, GATHER_MS, ReportBuffer } from "./report-buffer.ts";

const keys = (client: string, network = "n") => ({ client, network });
/** Each of another connection. */
const sample = (atMs: number): PathSample => ({ transport: "tcp", connectionId: `c${atMs}`, atMs, closing: false });
const T = 1_000_000;

describe("ReportBuffer", () => {
  it("lets also the first news wait for others where each call is billed, but for pages of drawn arms", async () => {
    const buffer = new ReportBuffer(new Counters(0), true);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T)).toBe(GATHER_BILLED_MS);
    expect(buffer.add("o", keys("b"), { sample: sample(T) }, T + 1)).toBeUndefined();
    expect(buffer.pending("o", "a").samples).toHaveLength(1);
    await buffer.flush("o", T + GATHER_BILLED_MS, async () => Promise.reject(new Error("gone")));
    // Before the request that asks has lived for 30 s.
    expect(buffer.again("o", T + GATHER_BILLED_MS)).toBe(8_000);
    const sent: number[] = [];
    const send = async (reports: readonly unknown[]): Promise<void> => void sent.push(reports.length);
    await buffer.flush("o", T + GATHER_BILLED_MS + 8_000, send);
    expect(sent).toEqual([2]);
  });

  it("flushes the first news at once, and at most once in ten seconds after it", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const sent: (readonly ClientReport[])[] = [];
    const send = async (reports: readonly ClientReport[]) => void sent.push(reports);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T)).toBe(0);
    await buffer.flush("o", T, send);
    expect(buffer.add("o", keys("a"), { sample: sample(T + 1) }, T + 1000)).toBe(GATHER_MS - 1000);
    for (let i = 2; i < 10; i++)
      expect(buffer.add("o", keys("a"), { sample: sample(T + i) }, T + 1000 + i)).toBeUndefined();
    expect(buffer.add("o", keys("b"), { answer: { origin: "o", atMs: T, offerUntilMs: T } }, T + 2000)).toBeUndefined();
    await buffer.flush("o", T + GATHER_MS, send);
    expect(sent.map((reports) => reports.map((r) => [r.client, r.samples.length, r.answers.length]))).toEqual([
      [["a", 1, 0]],
      [
        ["a", 9, 0],
        ["b", 0, 1],
      ],
    ]);
  });

  it("does not wait with a page of a drawn arm, unless a call is under way", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const sent: (readonly ClientReport[])[] = [];
    const send = async (reports: readonly ClientReport[]): Promise<void> => void sent.push(reports);
    const decided = askedPage("n", { arm: "offer" });
    buffer.add("o", keys("a"), { sample: sample(T) }, T);
    await buffer.flush("o", T, send);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T + 1_000)).toBe(GATHER_MS - 1_000);
    expect(buffer.add("o", keys("b"), { decided }, T + 2_000)).toBe(0);
    await buffer.flush("o", T + 2_000, send);
    // It took along what was there. What comes since relies on the flush that was promised before.
    expect(sent[1]?.map(({ client }) => client)).toEqual(["a", "b"]);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T + 3_000)).toBeUndefined();
    await buffer.flush("o", T + GATHER_MS, send);
    expect(sent).toHaveLength(3);
    // A flush that finds nothing calls nobody, and is over.
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T + GATHER_MS + 1)).toBe(GATHER_MS - 1);
    expect(buffer.add("o", keys("a"), { decided }, T + GATHER_MS + 2)).toBe(0);
    await buffer.flush("o", T + GATHER_MS + 2, send);
    await buffer.flush("o", T + 2 * GATHER_MS, send);
    expect(sent).toHaveLength(4);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T + 2 * GATHER_MS + 1)).toBeDefined();

    const { promise, resolve } = Promise.withResolvers<void>();
    buffer.add("p", keys("a"), { decided }, T);
    const flushing = buffer.flush("p", T, () => promise);
    expect(buffer.add("p", keys("a"), { decided }, T + 1)).toBe(GATHER_MS - 1);
    resolve();
    await flushing;
    expect(buffer.add("p", keys("a"), { decided }, T + 2)).toBe(0);
  });

  it("does not wait for an hour if the clock is set back an hour", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const send = async (): Promise<void> => undefined;
    buffer.add("o", keys("a"), { sample: sample(T) }, T);
    await buffer.flush("o", T, send);
    const before = T - 3_600_000;
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, before)).toBe(0);
    await buffer.flush("o", before, send);
    // A flush that was promised before the clock was set back does not count either.
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, before + 1)).toBe(GATHER_MS - 1);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, before - 3_600_000)).toBe(0);
  });

  it("passes on the autonomous system that came with the keys", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    buffer.add("o", { ...keys("a"), asn: 64_500 }, { sample: sample(T) }, T);
    buffer.add("o", keys("b"), { sample: sample(T) }, T);
    let sent: readonly ClientReport[] = [];
    await buffer.flush("o", T, async (reports) => {
      sent = reports;
    });
    expect(sent.map(({ client, asn }) => [client, asn])).toEqual([
      ["a", 64_500],
      ["b", undefined],
    ]);
  });

  it("keeps objects apart", () => {
    const buffer = new ReportBuffer(new Counters(0));
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T)).toBe(0);
    expect(buffer.add("p", keys("a"), { sample: sample(T) }, T)).toBe(0);
  });

  it("shows what is gathered and what is on its way, until the object has it", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const { promise, resolve } = Promise.withResolvers<void>();
    buffer.add("o", keys("a"), { sample: sample(1) }, T);
    const flushing = buffer.flush("o", T, () => promise);
    buffer.add("o", keys("a"), { sample: sample(2) }, T + 1);
    expect(buffer.pending("o", "a").samples.map((s) => s.atMs)).toEqual([1, 2]);
    resolve();
    await flushing;
    expect(buffer.pending("o", "a").samples.map((s) => s.atMs)).toEqual([2]);
    expect(buffer.pending("o", "z")).toEqual({ samples: [], answers: [], decided: [] });
  });

  it("shows all that is on its way to an object that hangs, and no more than of half a minute", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const shown = (): number[] => buffer.pending("o", "a").samples.map(({ atMs }) => atMs);
    const calls = [1, 2, 3, 4].map((atMs) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      buffer.add("o", keys("a"), { sample: sample(atMs) }, T + atMs * GATHER_MS);
      const flushed = buffer.flush("o", T + atMs * GATHER_MS, () => promise);
      if (atMs < 4) expect(shown()).toEqual([1, 2, 3].slice(0, atMs));
      return async () => {
        resolve();
        await flushed;
      };
    });
    expect(shown()).toEqual([2, 3, 4]);
    await calls[2]?.();
    expect(shown()).toEqual([2, 4]);
    for (const answer of calls) await answer();
    expect(shown()).toEqual([]);
  });

  it("does not wait for ever with a drawn page for a call whose request has died", () => {
    const buffer = new ReportBuffer(new Counters(0));
    buffer.add("o", keys("a"), { sample: sample(1) }, T);
    void buffer.flush("o", T, async () => Promise.withResolvers<void>().promise);
    const news = { decided: askedPage("n1") };
    expect(buffer.add("o", keys("a"), news, T + 1)).toBe(GATHER_MS - 1);
    expect(buffer.add("o", keys("a"), news, T + 30_000)).toBe(0);
    expect(buffer.pending("o", "a").samples).toEqual([]);
  });

  it("keeps for the next flush what an object did not take, before what came since", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const { promise, reject } = Promise.withResolvers<void>();
    buffer.add("o", keys("a"), { sample: sample(1) }, T);
    const flushing = buffer.flush("o", T, () => promise);
    buffer.add("o", keys("a"), { sample: sample(2) }, T + 1);
    reject(new Error("overloaded"));
    await flushing;
    let sent: readonly ClientReport[] = [];
    await buffer.flush("o", T + GATHER_MS, async (reports) => {
      sent = reports;
    });
    expect(sent.map((report) => report.samples.map((s) => s.atMs))).toEqual([[1, 2]]);
    expect(buffer.pending("o", "a").samples).toEqual([]);
  });

  it("lets another request flush when the one that should have did not live to", () => {
    const buffer = new ReportBuffer(new Counters(0));
    expect(buffer.add("o", keys("a"), { sample: sample(1) }, T)).toBe(0);
    expect(buffer.add("o", keys("a"), { sample: sample(2) }, T + GATHER_MS - 1)).toBeUndefined();
    expect(buffer.add("o", keys("a"), { sample: sample(3) }, T + GATHER_MS)).toBe(0);
  });

  /** Who is in the report that an object gets. */
  async function reported(buffer: ReportBuffer, object = "o"): Promise<readonly ClientReport[]> {
    let sent: readonly ClientReport[] = [];
    await buffer.flush(object, T, async (reports) => {
      sent = reports;
    });
    return sent;
  }

  it("is bounded in clients and in readings of each", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 3000; i++)
      buffer.add(i % 2 === 0 ? "o" : "p", keys(`c${i}`, `n${i}`), { sample: sample(i) }, T);
    for (let i = 0; i < 100; i++) buffer.add("o", keys("c0", "n0"), { sample: sample(i) }, T);
    const sent = await reported(buffer);
    expect(sent).toHaveLength(1000);
    expect(sent[0]?.samples).toHaveLength(64);
    expect(sent[0]?.samples.at(-1)?.atMs).toBe(99);
  });

  it("keeps one reading of a connection and one answer, however many pages its client opens", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 1_000; i++) {
      const reading = { ...sample(i), connectionId: "c", packetsSent: i, packetsLost: 0 };
      buffer.add("o", keys("a"), { sample: reading, answer: { origin: "o", atMs: i, offerUntilMs: i + 60_000 } }, T);
    }
    expect(await reported(buffer)).toMatchObject([
      { samples: [{ atMs: 999, packetsSent: 999 }], answers: [{ atMs: 999, offerUntilMs: 60_999 }] },
    ]);
    expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({});
  });

  it("one network fills an eighth of it", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 5000; i++) buffer.add("o", keys(`c${i}`), { sample: sample(i) }, T);
    for (let i = 0; i < 60; i++) buffer.add("o", keys(`quiet${i}`, `q${i}`), { sample: sample(i) }, T);
    const clients = (await reported(buffer)).map(({ client }) => client);
    expect(clients.filter((client) => client.startsWith("c"))).toHaveLength(250);
    expect(clients.filter((client) => client.startsWith("quiet"))).toHaveLength(60);
    // The next gathering has room for it again.
    buffer.add("o", keys("c5001"), { sample: sample(1) }, T);
    expect((await reported(buffer)).map(({ client }) => client)).toEqual(["c5001"]);
  });

  it("if it is full, the most crowded networks make room, and their clients with most readings stay", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    // Twenty networks, each of which would fill an eighth. One client in seven has two readings.
    for (let i = 0; i < 5000; i++) {
      const client = keys(`c${i}`, `n${i % 20}`);
      for (let reading = 0; reading < (i % 7 === 0 ? 2 : 1); reading++)
        buffer.add("o", client, { sample: sample(reading) }, T);
    }
    const stayed = [0, 140, 280].map((i) => `c${i}`);
    for (let i = 0; i < 60; i++) buffer.add("o", keys(`quiet${i}`, `q${i}`), { sample: sample(i) }, T);
    const clients = (await reported(buffer)).map(({ client }) => client);
    expect(clients.length).toBeLessThanOrEqual(2000);
    expect(clients.length).toBeGreaterThan(1900);
    expect(clients.filter((client) => client.startsWith("quiet"))).toHaveLength(60);
    expect(clients).toEqual(expect.arrayContaining(stayed));
  });

  it("what an object did not take counts as before", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 300; i++) buffer.add("o", keys(`c${i}`), { sample: sample(i) }, T);
    await buffer.flush("o", T, () => Promise.reject(new Error("overloaded")));
    for (let i = 300; i < 400; i++) buffer.add("o", keys(`c${i}`), { sample: sample(i) }, T);
    expect(await reported(buffer)).toHaveLength(250);
  });

  describe("counts what it drops", () => {
    const decision = askedPage("n", { arm: "offer" });
    /** None makes another superfluous: offers of later pages end sooner. */
    const pieceOf = (i: number) => ({
      sample: sample(T + i),
      answer: { origin: "o", atMs: T + i, offerUntilMs: T + 1_000 - i },
      page: pageNews("n"),
      decided: decision,
    });
    const all = pieceOf(0);
    const pieces = (reports: readonly ClientReport[]): number =>
      reports.reduce(
        (sum, { samples, answers, pages = [], decided: asked = [] }) =>
          sum + samples.length + answers.length + pages.length + asked.length,
        0,
      );

    it("nothing where there is room", () => {
      const buffer = new ReportBuffer(new Counters(0));
      buffer.add("o", keys("a"), all, T);
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({});
    });

    it("all pieces of a client beyond those of its network, or of the isolate", () => {
      const buffer = new ReportBuffer(new Counters(0));
      for (let i = 0; i < 251; i++) buffer.add("o", keys(`c${i}`), all, T);
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({ "network-full": 4 });
      for (let i = 0; i < 1_751; i++) buffer.add("o", keys(`q${i}`, `n${i}`), { sample: sample(T) }, T);
      // The last one found no room, and half of the crowd gave way: 125 of 250, with four pieces each.
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({ "network-full": 4, "gave-way": 500 });
      const crowdless = new ReportBuffer(new Counters(0));
      for (let i = 0; i < 2_003; i++) crowdless.add("o", keys(`c${i}`, `n${i}`), all, T);
      expect(crowdless.counters.readBy("news_dropped", "cause")).toEqual({ full: 12 });
    });

    it("readings and answers that newer ones push out, and pages after the first ones", () => {
      const buffer = new ReportBuffer(new Counters(0));
      for (let i = 0; i < 70; i++) buffer.add("o", keys("a"), pieceOf(i), T);
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({ older: 12, page: 66, "asked-page": 62 });
    });

    it("what has no place any more when an object did not take it", async () => {
      const buffer = new ReportBuffer(new Counters(0));
      const { promise, reject } = Promise.withResolvers<void>();
      for (let i = 0; i < 40; i++) buffer.add("o", keys("a"), { sample: sample(i) }, T);
      for (let i = 0; i < 3; i++) buffer.add("o", keys("a"), { page: pageNews(`n${i}`), decided: decision }, T);
      const flushing = buffer.flush("o", T, () => promise);
      for (let i = 0; i < 30; i++) buffer.add("o", keys("a"), { sample: sample(40 + i) }, T);
      for (let i = 0; i < 4; i++) buffer.add("o", keys("a"), { page: pageNews(`m${i}`), decided: decision }, T);
      for (let i = 0; i < 2; i++) buffer.add("o", keys("a"), { decided: decision }, T);
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({});
      reject(new Error("overloaded"));
      await flushing;
      expect(buffer.counters.readBy("news_dropped", "cause")).toEqual({ older: 6, page: 3, "asked-page": 1 });
    });

    it("so that each piece is either told or counted, in a flood", async () => {
      const buffer = new ReportBuffer(new Counters(0));
      const rounds = 3;
      for (let round = 0; round < rounds; round++)
        for (let i = 0; i < 20_000; i++)
          buffer.add(
            i % 2 === 0 ? "o" : "p",
            keys(`c${i}`, i % 3 === 0 ? "crowd" : `n${i % 5_000}`),
            pieceOf(round),
            T,
          );
      const told = [...(await reported(buffer)), ...(await reported(buffer, "p"))];
      expect(told.length).toBeLessThanOrEqual(2_000);
      expect(told.filter(({ network }) => network === "crowd").length).toBeLessThanOrEqual(2 * 250);
      const dropped = buffer.counters.readBy("news_dropped", "cause");
      expect(
        Object.keys(dropped).every((cause) => FAMILIES.news_dropped.labels.cause.some((one) => one === cause)),
      ).toBe(true);
      const counted = Object.values(dropped).reduce((sum, count) => sum + count, 0);
      expect(pieces(told) + counted).toBe(rounds * 20_000 * 4);
    });
  });

  it("keeps a client's first pages, shows what they showed, and puts them back", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 6; i++) {
      expect(buffer.takes("pages", "o", "a"), String(i)).toBe(i < 4);
      buffer.add("o", keys("a"), { page: pageNews(`n${i}`, { samples: [sample(i)] }) }, T);
    }
    expect(buffer.takes("pages", "o", "b")).toBe(true);
    expect(buffer.pending("o", "a").samples.map(({ atMs }) => atMs)).toEqual([0, 1, 2, 3]);
    await buffer.flush("o", T, () => Promise.reject(new Error("overloaded")));
    const [report] = await reported(buffer);
    expect(report?.pages?.map(({ nonce }) => nonce)).toEqual(["n0", "n1", "n2", "n3"]);
    // What pages showed goes with them: the object decides whether they count.
    expect(report?.samples).toEqual([]);
    buffer.add("o", keys("a"), { sample: sample(1) }, T);
    expect((await reported(buffer))[0]).not.toHaveProperty("pages");
  });

  const decided = (atMs: number) => ({ decided: askedPage("n", { arm: "offer", atMs }) });
  const times = (pages: readonly { readonly atMs: number }[] | undefined) => pages?.map(({ atMs }) => atMs);

  it("keeps the first pages that were asked to report, says when there is no room, and leaves none out of a report", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    for (let i = 0; i < 12; i++) {
      expect(buffer.takes("decided", "o", "a"), String(i)).toBe(i < 8);
      buffer.add("o", keys("a"), decided(i), T);
    }
    for (const [object, client] of [
      ["o", "b"],
      ["p", "a"],
    ] as const)
      expect(buffer.takes("decided", object, client)).toBe(true);
    const [report] = await reported(buffer);
    expect(times(report?.decided)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(report?.decided?.[0]).toEqual(askedPage("n", { arm: "offer", atMs: 0 }));
    expect(report).not.toHaveProperty("pages");
    expect(buffer.takes("decided", "o", "a")).toBe(true);
  });

  it("says nothing of such pages where there are none", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    buffer.add("o", keys("a"), { sample: sample(1), page: pageNews("n") }, T);
    expect((await reported(buffer))[0]).not.toHaveProperty("decided");
  });

  it("shows such pages until the object has them", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const { promise, resolve } = Promise.withResolvers<void>();
    buffer.add("o", keys("a"), decided(1), T);
    const flushing = buffer.flush("o", T, () => promise);
    buffer.add("o", keys("a"), decided(2), T + 1);
    expect(times(buffer.pending("o", "a").decided)).toEqual([1, 2]);
    expect(buffer.pending("o", "b").decided).toEqual([]);
    resolve();
    await flushing;
    expect(times(buffer.pending("o", "a").decided)).toEqual([2]);
  });

  it("puts such pages back before those that came since, within their bound", async () => {
    const buffer = new ReportBuffer(new Counters(0));
    const { promise, reject } = Promise.withResolvers<void>();
    for (let i = 0; i < 6; i++) buffer.add("o", keys("a"), decided(i), T);
    const flushing = buffer.flush("o", T, () => promise);
    for (let i = 6; i < 12; i++) buffer.add("o", keys("a"), decided(i), T);
    reject(new Error("overloaded"));
    await flushing;
    expect(times((await reported(buffer))[0]?.decided)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});
