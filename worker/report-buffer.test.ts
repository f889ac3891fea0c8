import { describe, expect, it } from "vitest";
import type { ClientReport } from "../durable/client-report.ts";
import type { PathSample } from "../policy-api/core/sample.ts";
import { GATHER_MS, ReportBuffer } from "./report-buffer.ts";

const keys = (client: string, network = "n") => ({ client, network });
const sample = (atMs: number): PathSample => ({ transport: "tcp", connectionId: "c", atMs, closing: false });
const T = 1_000_000;

describe("ReportBuffer", () => {
  it("flushes the first news at once, and at most once in ten seconds after it", async () => {
    const buffer = new ReportBuffer();
    const sent: (readonly ClientReport[])[] = [];
    const send = async (reports: readonly ClientReport[]) => void sent.push(reports);
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T)).toBe(0);
    await buffer.flush("o", T, send);
    expect(buffer.add("o", keys("a"), { sample: sample(T + 1) }, T + 1000)).toBe(GATHER_MS - 1000);
    for (let i = 2; i < 10; i++)
      expect(buffer.add("o", keys("a"), { sample: sample(T + i) }, T + 1000 + i)).toBeUndefined();
    expect(buffer.add("o", keys("b"), { answer: { atMs: T, offerUntilMs: T } }, T + 2000)).toBeUndefined();
    await buffer.flush("o", T + GATHER_MS, send);
    expect(sent.map((reports) => reports.map((r) => [r.client, r.samples.length, r.answers.length]))).toEqual([
      [["a", 1, 0]],
      [
        ["a", 9, 0],
        ["b", 0, 1],
      ],
    ]);
  });

  it("does not wait for an hour if the clock is set back an hour", async () => {
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
    expect(buffer.add("o", keys("a"), { sample: sample(T) }, T)).toBe(0);
    expect(buffer.add("p", keys("a"), { sample: sample(T) }, T)).toBe(0);
  });

  it("shows what is gathered and what is on its way, until the object has it", async () => {
    const buffer = new ReportBuffer();
    const { promise, resolve } = Promise.withResolvers<void>();
    buffer.add("o", keys("a"), { sample: sample(1) }, T);
    const flushing = buffer.flush("o", T, () => promise);
    buffer.add("o", keys("a"), { sample: sample(2) }, T + 1);
    expect(buffer.pending("o", "a").samples.map((s) => s.atMs)).toEqual([1, 2]);
    resolve();
    await flushing;
    expect(buffer.pending("o", "a").samples.map((s) => s.atMs)).toEqual([2]);
    expect(buffer.pending("o", "z")).toEqual({ samples: [], answers: [] });
  });

  it("keeps for the next flush what an object did not take, before what came since", async () => {
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
    for (let i = 0; i < 3000; i++)
      buffer.add(i % 2 === 0 ? "o" : "p", keys(`c${i}`, `n${i}`), { sample: sample(i) }, T);
    for (let i = 0; i < 100; i++) buffer.add("o", keys("c0", "n0"), { sample: sample(i) }, T);
    const sent = await reported(buffer);
    expect(sent).toHaveLength(1000);
    expect(sent[0]?.samples).toHaveLength(64);
    expect(sent[0]?.samples.at(-1)?.atMs).toBe(99);
  });

  it("one network fills an eighth of it", async () => {
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
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
    const buffer = new ReportBuffer();
    for (let i = 0; i < 300; i++) buffer.add("o", keys(`c${i}`), { sample: sample(i) }, T);
    await buffer.flush("o", T, () => Promise.reject(new Error("overloaded")));
    for (let i = 300; i < 400; i++) buffer.add("o", keys(`c${i}`), { sample: sample(i) }, T);
    expect(await reported(buffer)).toHaveLength(250);
  });
});
