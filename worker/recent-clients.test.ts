import { describe, expect, it } from "vitest";
import { offersHeld } from "../policy-api/decision/testing.ts";
import type { Remembered } from "../policy-api/decision/history.ts";
import type { PathSample } from "../policy-api/decision/sample.ts";
import { RECENT_MAX, RECENT_MS, RecentClients, SHARED_MS } from "./recent-clients.ts";
import { NO_NEWS } from "./news.ts";

const REMEMBERED: Remembered = {
  offers: offersHeld({ untilMs: 5, answeredAtMs: 1, offering: true }),
};
const sample = (atMs: number): PathSample => ({
  transport: "tcp",
  connectionId: `c${atMs}`,
  atMs,
  rttMs: 40,
  closing: false,
});
const answer = (atMs: number) => ({ origin: "o", atMs, offerUntilMs: 0 });

describe("a client that was looked up", () => {
  it("is found for a minute, with all that came since the look-up left", () => {
    const recent = new RecentClients();
    const take = recent.ask("a", { ...NO_NEWS, samples: [sample(1)] }, 1_000);
    recent.add("a", { sample: sample(2) });
    expect(recent.find("a", 1_001)).toBeUndefined();
    take(REMEMBERED);
    recent.add("a", { answer: answer(3) });
    recent.add("b", { answer: answer(4) });
    expect(recent.find("a", 1_000 + RECENT_MS - 1)).toEqual({
      remembered: REMEMBERED,
      news: { samples: [sample(1), sample(2)], answers: [answer(3)], decided: [] },
    });
    expect(recent.find("b", 1_001)).toBeUndefined();
    expect(recent.find("a", 1_000 + RECENT_MS)).toBeUndefined();
  });

  it("is not found after the clock was set back", () => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, 1_000)(REMEMBERED);
    expect(recent.find("a", 999)).toBeUndefined();
  });

  it("does not change what was found before", () => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, 0)(REMEMBERED);
    const found = recent.find("a", 1);
    recent.add("a", { sample: sample(2) });
    expect(found?.news).toEqual(NO_NEWS);
    expect(NO_NEWS).toEqual({ samples: [], answers: [], decided: [] });
  });

  it("is asked for again once it has told too much to be kept", () => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, 0)(REMEMBERED);
    for (let i = 0; i < 100; i++) recent.add("a", { sample: sample(i) });
    expect(recent.find("a", 1)).toBeUndefined();
  });

  it("is kept however many pages it opens over one connection", () => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, 0)(REMEMBERED);
    for (let i = 0; i < 100; i++)
      recent.add("a", {
        sample: { ...sample(i), connectionId: "c" },
        answer: { origin: "o", atMs: i, offerUntilMs: 0 },
      });
    expect(recent.find("a", 1)?.news).toMatchObject({ samples: [{ atMs: 99 }], answers: [{ atMs: 99 }] });
  });

  it("gives way to those that were asked for later", () => {
    const recent = new RecentClients();
    for (let i = 0; i <= RECENT_MAX; i++) recent.ask(`c${i}`, NO_NEWS, i)(REMEMBERED);
    expect(recent.find("c0", RECENT_MAX)).toBeUndefined();
    expect(recent.find("c1", RECENT_MAX)).toBeDefined();
  });

  it("is forgotten", () => {
    const recent = new RecentClients();
    for (const name of ["a", "b", "c"]) recent.ask(name, NO_NEWS, 0)(REMEMBERED);
    recent.forget("a", 2);
    expect(["a", "b"].map((name) => recent.find(name, 1) === undefined)).toEqual([true, false]);
  });
});

describe("what another isolate shares", () => {
  const asked = (atMs: number): RecentClients => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, atMs)(REMEMBERED);
    return recent;
  };

  it("is all that it knows, and is shared again once there is more", () => {
    const recent = asked(1_000);
    recent.add("a", { answer: answer(3) });
    expect(recent.share("a")).toEqual({
      askedAtMs: 1_000,
      remembered: REMEMBERED,
      news: { ...NO_NEWS, answers: [answer(3)] },
    });
    expect(recent.share("a")).toBeUndefined();
    recent.add("a", { sample: sample(4) });
    expect(recent.share("a")?.news).toEqual({ ...NO_NEWS, answers: [answer(3)], samples: [sample(4)] });
    expect(recent.share("b")).toBeUndefined();
  });

  it("is nothing before the answer of the store", () => {
    const recent = new RecentClients();
    recent.ask("a", NO_NEWS, 1_000);
    expect(recent.share("a")).toBeUndefined();
  });

  it("serves as one's own, with one's own news, for a minute", () => {
    const recent = new RecentClients();
    const shared = asked(1_000).share("a");
    if (shared === undefined) throw new Error("nothing was shared");
    const adopted = recent.adopt("a", shared, { ...NO_NEWS, samples: [sample(2)] }, 31_000);
    expect(adopted).toEqual({ remembered: REMEMBERED, news: { ...NO_NEWS, samples: [sample(2)] } });
    recent.add("a", { answer: answer(3) });
    expect(recent.find("a", 31_000 + RECENT_MS - 1)?.news.answers).toEqual([answer(3)]);
    expect(recent.find("a", 31_000 + RECENT_MS)).toBeUndefined();
  });

  it("is taken over again after that minute, with all that was learnt here, until three minutes after the look-up", () => {
    const recent = asked(1_000);
    const shared = recent.share("a");
    if (shared === undefined) throw new Error("nothing was shared");
    // A report that came here: the others do not have it.
    recent.add("a", { sample: sample(2) });
    expect(recent.find("a", 1_000 + RECENT_MS)).toBeUndefined();
    expect(recent.adopt("a", shared, NO_NEWS, 1_000 + RECENT_MS)?.news.samples).toEqual([sample(2)]);
    expect(recent.share("a")?.news.samples).toEqual([sample(2)]);
    const later = SHARED_MS - RECENT_MS / 2;
    expect(recent.adopt("a", shared, NO_NEWS, 1_000 + later)).toBeDefined();
    expect(recent.find("a", 1_000 + SHARED_MS - 1)).toBeDefined();
    expect(recent.find("a", 1_000 + SHARED_MS)).toBeUndefined();
    expect(new RecentClients().adopt("a", shared, NO_NEWS, 1_000 + SHARED_MS)).toBeUndefined();
  });

  it("does not bring back what was forgotten since", () => {
    const recent = asked(1_000);
    const [before, after] = [recent.share("a"), asked(2_001).share("a")];
    recent.forget("a", 2_000);
    expect(before && recent.adopt("a", before, NO_NEWS, 2_002)).toBeUndefined();
    expect(after && recent.adopt("a", after, NO_NEWS, 2_002)).toBeDefined();
  });
});
