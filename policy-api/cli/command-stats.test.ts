import { beforeEach, describe, expect, it } from "vitest";
import { HOUR_MS } from "../api/counters/counted.ts";
import { MADE_MS, type Person, person } from "./testing.ts";

const HOUR = Math.floor(MADE_MS / HOUR_MS);
let anna: Person;
beforeEach(async () => {
  anna = await person();
});

describe("stats", () => {
  it("shows this hour, those before it, and all", async () => {
    const offered = "decisions|h3-faster|h3|policy|tcp|no";
    const clear = "decisions|h2-faster|clear|policy|tcp|no";
    const late = "decisions|not-measured|nothing|policy|tcp|yes";
    anna.api.ports.counters.tally = {
      sinceHour: HOUR - 50,
      totals: {
        [offered]: 12_000,
        [clear]: 7,
        [late]: 4_000,
        "offers|taken": 900,
        "look_ups|store": 16_007,
        undecided: 3,
      },
      hours: [
        { hour: HOUR - 2, counted: { [offered]: 60 } },
        { hour: HOUR, counted: { [offered]: 20, [late]: 20 } },
      ],
    };
    const { code, out, err } = await anna.does("stats", 100);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n").filter((line) => line.length > 100 || !/^[ -~]*$/.test(line))).toEqual([]);
    expect(out).toMatch(/^Since 2026-11-19T08:00:00Z \(2 d ago\):$/m);
    expect(out).toMatch(/^pages decided about +40 +100 +- +16,007$/m);
    // A page says it also where no offer was ever made.
    expect(out).toMatch(/^ {2}clear: takes back any earlier offer +0 +0 +0\.0 +7$/m);
    expect(out).toMatch(/^ {2}offered HTTP\/3 +20 +80 +80\.0 +12,000$/m);
    expect(out).toMatch(/^ {2}late: the look-up was too slow +20 +20 +20\.0 +4,000$/m);
    expect(out).toMatch(/^ {2}h3-faster +20 +80 +80\.0 +12,000$/m);
    expect(out).toMatch(/^undecided: no policy at hand in time +0 +0 +- +3$/m);
    expect(out).not.toMatch(/drawn|look-ups that failed|the origin/);
    expect(anna.api.asked()).toEqual(["GET /stats?hours=24", "GET /stats/store"]);
    expect(JSON.parse((await anna.does("stats --json")).out)).toMatchObject({ objects: { asked: 1 } });
  });

  it("says how much is kept of clients", async () => {
    expect((await anna.does("stats")).out).toContain("Nothing is kept of clients. 1 object did not answer.");
    const kept = { rows: 1_200, oldestAtMs: MADE_MS - 2 * HOUR_MS, bytes: 900_000 };
    anna.api.ports.counters.parts = [kept, { ...kept, rows: 34 }, { rows: 0, oldestAtMs: undefined, bytes: 0 }];
    const { out } = await anna.does("stats");
    expect(out).toMatch(
      /^Kept of clients and networks: 1,234 rows in 2 objects of 4, 1\.8 MB; .* 2 h ago\. 1 object did/m,
    );
    expect(JSON.parse((await anna.does("stats --json")).out)).toMatchObject({ store: { rows: 1_234 } });
  });

  it("says that nothing was counted, and who did not answer", async () => {
    anna.api.ports.counters.objects = { asked: 10, answered: 8 };
    const { out } = await anna.does("stats");
    expect(out).toContain("Nothing was counted yet: no page has passed the worker.");
    expect(out).toContain("2 regions of the store did not answer: what it counted is missing.");
    expect(anna.api.ports.counters.asked).toEqual([HOUR - 23]);
  });

  it("says that the worker cannot count", async () => {
    anna.api.ports.counters.objects = { asked: 0, answered: 0 };
    expect((await anna.does("stats")).out).toContain("no binding COUNTERS");
  });
});
