import { describe, expect, it } from "vitest";
import { measurements, OPEN_LOAD_RATIO, openRate } from "./schedule.ts";
import { SUBJECTS } from "./subjects.ts";
import { exampleApiLoadRow } from "./testing.ts";

describe("measurements", () => {
  const all = measurements(4, 1);

  it("has every subject once a round in the open loop, and all closed loops first", () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const loops = all.map(({ loop }) => loop);
    expect(loops.lastIndexOf("closed")).toBeLessThan(loops.indexOf("open"));
    for (const round of [0, 1, 2, 3]) {
      const open = all.filter((one) => one.loop === "open" && one.round === round);
      expect(open.map(({ subject }) => subject).toSorted()).toEqual([...SUBJECTS].toSorted());
    }
    expect(all.filter(({ loop }) => loop === "closed").map(({ subject }) => subject)).not.toContain("pages-under-api");
  });

  it("keeps a round's order whatever the number of rounds", () => {
    const few = measurements(2, 1).map(({ id }) => id);
    const more = measurements(9, 1).map(({ id }) => id);
    expect(more.filter((id) => few.includes(id))).toEqual(few);
  });
});

describe("openRate", () => {
  const closed = [
    ...[900, 1_000, 5_000].map((requestsPerSecond, round) =>
      exampleApiLoadRow({ loop: "closed", subject: "pages", round, requestsPerSecond }),
    ),
    ...(["pass", "decide-1", "decide-100"] as const).map((subject, i) =>
      exampleApiLoadRow({ loop: "closed", subject, round: 0, requestsPerSecond: 3_000 / (i + 1) }),
    ),
  ];

  it("is the same with and without callers, of the pages' median alone", () => {
    expect(openRate(closed, "pages")).toBe(OPEN_LOAD_RATIO * 1_000);
    expect(openRate(closed, "pages-under-api")).toBe(OPEN_LOAD_RATIO * 1_000);
  });

  it("is the same for decisions and what they are held against: what the slowest of them bears", () => {
    for (const subject of ["pass", "decide-1", "decide-100"] as const)
      expect(openRate(closed, subject)).toBe(OPEN_LOAD_RATIO * 1_000);
  });

  it("stays what it was once a row has it", () => {
    const open = exampleApiLoadRow({ loop: "open", subject: "pages", round: 0, rate: 123 });
    expect(openRate([...closed, open], "pages-under-api")).toBe(123);
    expect(openRate([...closed, open], "pass")).toBe(OPEN_LOAD_RATIO * 1_000);
  });
});
