import { errors } from "playwright-core";
import { describe, expect, it, vi } from "vitest";
import type { CoreWatch } from "./cores.ts";
import { type DrivenPage, loadPage } from "./navigate.ts";
import type { PathStats } from "./path.ts";
import { NOTHING_COUNTED } from "./testing.ts";

const CORES: CoreWatch = { busyRatio: () => Number.NaN, stop: () => undefined };

/** A path that carries so much meanwhile. */
function load(page: DrivenPage, during: Partial<typeof NOTHING_COUNTED> = {}, cores = CORES) {
  const stats = vi
    .fn<() => Promise<PathStats>>()
    .mockResolvedValueOnce({ aToB: NOTHING_COUNTED, bToA: NOTHING_COUNTED })
    .mockResolvedValueOnce({ aToB: NOTHING_COUNTED, bToA: { ...NOTHING_COUNTED, ...during } });
  return loadPage(page, "https://h3.test/", { path: { stats } } as never, cores);
}

describe("loadPage", () => {
  const timing = { loadMs: 12, documentProtocol: "h2" };
  const pageOf = (goto: () => Promise<unknown>) =>
    ({ goto, evaluate: () => Promise.resolve(timing) }) as unknown as DrivenPage;
  const answered = (altSvc: string | null, code = 200) =>
    load(
      pageOf(() =>
        Promise.resolve({ status: () => code, headers: () => (altSvc === null ? {} : { "alt-svc": altSvc }) }),
      ),
    );

  it.each([
    ['h3=":8010"; ma=300', "offer"],
    ["clear", "clear"],
    [null, "none"],
  ])("Alt-Svc %j is %s", async (altSvc, answer) => {
    expect(await answered(altSvc)).toMatchObject({ outcome: "ok", answer, ...timing });
  });

  it("says why a page was not loaded", async () => {
    expect(await answered("clear", 502)).toMatchObject({ outcome: "failed", error: "status 502" });
    const failing = (error: Error) => load(pageOf(vi.fn<() => Promise<PathStats>>().mockRejectedValue(error)));
    expect(await failing(new Error("net::ERR\nat page"))).toMatchObject({ outcome: "failed", error: "net::ERR" });
    expect(await failing(new errors.TimeoutError("late"))).toMatchObject({
      outcome: "timeout",
      error: "late",
      loadMs: 120_000,
    });
  });

  it("has what cores and path tell, where they tell anything", async () => {
    const page = pageOf(() => Promise.resolve({ status: () => 200, headers: () => ({}) }));
    const [during, cores] = [
      { forwardedPackets: 100, latePackets: 5 },
      { ...CORES, busyRatio: () => 0.9 },
    ];
    expect(await load(page, during, cores)).toMatchObject({ busyRatio: 0.9, lateRatio: 0.05 });
    expect(await load(page)).toMatchObject({ busyRatio: null, lateRatio: null });
  });
});
