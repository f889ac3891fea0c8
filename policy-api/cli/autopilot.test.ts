import { beforeEach, describe, expect, it, vi } from "vitest";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { drawnRows } from "../visitors/testing-rows.ts";
import { type Person, person, TOKENS } from "./testing.ts";

const DAY_MS = 86_400_000;
const LEARNING: Policy = { ...INITIAL_POLICY, mode: "adaptive", method: EMPTY_GAINS };
const everywhere = (gain: number) => ({
  ...EMPTY_GAINS.table.next,
  gain: EMPTY_GAINS.table.next.gain.map((losses) => losses.map((rtts) => rtts.map(() => gain))),
});
/** Offers to everyone. */
const OFFERING: Policy = {
  ...LEARNING,
  method: { ...EMPTY_GAINS, table: { ...EMPTY_GAINS.table, next: everywhere(0.3), return: everywhere(0.3) } },
};

/** Clients of a version, for whom HTTP/3 changes the logarithm of the time by so much. */
const rowsOf = (version: number, saves: number, clients = 4500) =>
  drawnRows(
    version,
    [20, 60, 150].map((rttMs) => ({ rttMs, clients: clients / 3, saves, overH3: 0.9, asn: 64_496 })),
  );

/** The same, of whom HTTP/3 saves time in two periods, and takes more in the third one. */
const changedRows = (version: number, lastPeriod = 10_345) =>
  [0.3, 0.3, -0.2].flatMap((saves, i) =>
    drawnRows(version, [{ rttMs: 150, clients: 1500, saves, overH3: 0.9, asn: 64_496, period: lastPeriod - 2 + i }]),
  );

let anna: Person;
const step = async (): Promise<string> => {
  const { code, out, err } = await anna.does("autopilot");
  expect([code, err]).toEqual([0, ""]);
  return out;
};
const later = (ms: number): void => void vi.setSystemTime(Date.now() + ms);
const current = () => {
  const { everyone, stages, note, cause } = anna.api.current();
  return { everyone, stages, note, cause };
};
const store = async (policy: Policy) => anna.api.ports.store.create({ policy, author: "ben", note: null });
/** What a person puts in force. */
const put = async (everyone: number, stages: readonly { version: number; share: number }[] = []): Promise<void> =>
  anna.api.change({ kind: "put", everyone, stages });

beforeEach(async () => {
  anna = await person(TOKENS.autopilot);
  Object.assign(anna.io, { nowMs: () => Date.now() });
  await store(LEARNING);
  await store(OFFERING);
  await put(1);
});

describe("autopilot", () => {
  it("gives what visitors taught to few, then to more, then to everyone", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    expect(await step()).toMatch(
      /^Done: it tries what version 1's visitors taught: it should save \d+\.\d % of new clients' time\.\n\nRevision 2 /,
    );
    expect(current()).toMatchObject({ everyone: 1, stages: [{ version: 3, share: 0.05 }] });
    expect(anna.api.requests.at(-1)?.headers["if-match"]).toBe('"r1"');
    expect(await step()).toBe("Nothing to do: version 3 has not been tried for a day yet.\n");
    later(DAY_MS);
    anna.api.ports.outcomes.rows = [...rowsOf(1, 0.2), ...rowsOf(3, 0.2)];
    expect(await step()).toContain("Done: it gives version 3 to 25 % of the clients.\n");
    later(DAY_MS);
    expect(await step()).toContain("Done: it gives version 3 to everyone.\n");
    expect(current()).toEqual({
      everyone: 3,
      stages: [],
      note: "autopilot gives version 3 to everyone",
      cause: { step: "widens", version: 3 },
    });
  });

  it("gives to everyone no version of which nothing is known, and says so where it gives it to more", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    later(DAY_MS);
    const gives = "gives version 3 to 25 % of the clients. Where it offers HTTP/3, its visitors cannot be compared";
    expect(await step()).toContain(`Done: it ${gives}.\n`);
    expect(current()).toMatchObject({ stages: [{ version: 3, share: 0.25 }], note: `autopilot ${gives}` });
    later(30 * DAY_MS);
    anna.api.ports.outcomes.rows = rowsOf(3, 0.2, 99);
    expect(await step()).toBe(
      "Nothing to do: version 3 does not go to everyone. Where it offers HTTP/3, its visitors cannot be compared.\n",
    );
    anna.api.ports.outcomes.rows = rowsOf(3, 0.2, 150);
    expect(await step()).toContain("Done: it gives version 3 to everyone.\n");
  });

  it("takes a trial back that harms, rests for a week, and does not try it again", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    anna.api.ports.outcomes.rows = [...rowsOf(1, 0.2), ...rowsOf(3, -0.3)];
    expect(await step()).toMatch(
      /^Done: it takes back version 3\. Where this version offers HTTP\/3, pages take \d+ to \d+ % longer\./,
    );
    expect(current()).toMatchObject({ everyone: 1, stages: [] });
    expect(await step()).toBe("Nothing to do: something was taken back within the last week.\n");
    later(7 * DAY_MS);
    expect(await step()).toBe("Nothing to do: version 3, which is proposed, was tried before.\n");
    // Other evidence makes another version.
    anna.api.ports.outcomes.rows = rowsOf(1, 0.25);
    expect(await step()).toContain("Done: it tries what version 1's visitors taught");
    expect(current().stages).toEqual([{ version: 4, share: 0.05 }]);
  });

  it("takes back a version that somebody put in force, once", async () => {
    await put(2);
    anna.api.ports.outcomes.rows = rowsOf(2, -0.3);
    expect(await step()).toContain("Done: it takes back version 2. Where");
    expect(current().everyone).toBe(1);
    await put(2);
    expect(await step()).toBe(
      "Nothing to do: version 2 harms, but somebody has put it in force again after it was taken back.\n",
    );
    expect(current().everyone).toBe(2);
  });

  it("knows its own changes by their cause, whatever a note says", async () => {
    const takesBack = "autopilot takes back version 2. Where";
    await anna.api.ports.store.change(
      { kind: "put", everyone: 2, stages: [] },
      { author: "ben", note: takesBack, ifMatch: "*" },
    );
    anna.api.ports.outcomes.rows = rowsOf(2, -0.3);
    // A person's note makes it no change of the autopilot.
    expect(await step()).toContain("Done: it takes back version 2.");
    await put(2);
    await anna.api.ports.store.change(
      { kind: "put", everyone: 1, stages: [] },
      { author: "auto", note: "in other words", cause: { step: "takes-back", version: 2 }, ifMatch: "*" },
    );
    anna.api.ports.outcomes.rows = [];
    expect(await step()).toBe("Nothing to do: something was taken back within the last week.\n");
  });

  it("may act by a token of its scope alone", async () => {
    Object.assign(anna.io, { env: { ...anna.io.env, H3_TOKEN: TOKENS.write } });
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    const { code, err } = await anna.does("autopilot");
    expect([code, err]).toEqual([
      3,
      "The server does not allow this (403).\nthe token writer is not of the scope autopilot, so it may give no cause\n",
    ]);
    expect(current().stages).toEqual([]);
  });

  it("goes back to a version that nobody speaks against, or to an empty gain table", async () => {
    await store({ ...OFFERING, source: "another" });
    for (const version of [2, 3]) await put(version);
    anna.api.ports.outcomes.rows = [...rowsOf(2, -0.3), ...rowsOf(3, -0.3)];
    await step();
    expect(current().everyone).toBe(1);
    const { ports } = anna.api;
    const fixed: Policy = { ...INITIAL_POLICY, mode: "fixed-h3" };
    await store(fixed);
    ports.store.unreadableVersions.add(1);
    await put(4);
    await store({ ...OFFERING, source: "a fifth" });
    await put(5);
    ports.outcomes.rows = [...rowsOf(2, -0.3), ...rowsOf(3, -0.3), ...rowsOf(5, -0.3)];
    expect(await step()).toContain("Done: it takes back version 5.");
    expect(current().everyone).toBe(6);
  });

  it.each<[string, Partial<Policy>, number]>([
    ["whose visitors said nothing", { source: "another" }, 0],
    ["that a rule offers to everyone", { rules: [{ pathPrefix: "/shop/", mode: "fixed-h3" }] }, 4500],
  ])("prefers an older version without harm to a newer one %s, else takes it and says so", async (_, over, clients) => {
    const { ports } = anna.api;
    await store({ ...OFFERING, ...over });
    await store({ ...OFFERING, source: "the last" });
    for (const version of [2, 3, 4]) await put(version);
    const against = [...(clients === 0 ? [] : rowsOf(3, 0.2, clients)), ...rowsOf(4, -0.3)];
    ports.store.unreadableVersions.add(1);
    ports.outcomes.rows = [...rowsOf(2, 0.2), ...against];
    expect(await step()).toMatch(/^Done: it takes back version 4\. Where .* longer\.\n/);
    expect(current().everyone).toBe(2);

    await store({ ...OFFERING, source: "a fifth" });
    await put(5);
    ports.outcomes.rows = [...rowsOf(2, -0.3), ...against, ...rowsOf(5, -0.3)];
    expect(await step()).toMatch(
      /^Done: it takes back version 5\. Where .* longer\. Everyone gets version 3\. Where it offers HTTP\/3, its visitors cannot be compared\.\n/,
    );
    expect(current().everyone).toBe(3);
  });

  it("gives everyone an empty gain table where no earlier version is left, and goes on learning by it", async () => {
    await put(2);
    anna.api.ports.store.unreadableVersions.add(1);
    anna.api.ports.outcomes.rows = rowsOf(2, -0.3);
    expect(await step()).toMatch(
      /^Done: it takes back version 2\. Where this version offers HTTP\/3, pages take \d+ to \d+ % longer\. Everyone gets an empty gain table\./,
    );
    expect(current()).toMatchObject({ everyone: 3, stages: [] });
    expect((await anna.api.ports.store.version(3))?.policy).toEqual({
      ...LEARNING,
      source: "Version 2 with an empty gain table, as it harmed visitors",
    });
    anna.api.ports.outcomes.rows = [...rowsOf(2, -0.3), ...rowsOf(3, 0.2)];
    expect(await step()).toBe("Nothing to do: something was taken back within the last week.\n");
    later(7 * DAY_MS);
    expect(await step()).toContain("Done: it tries what version 3's visitors taught");
  });

  it("goes back to no version under which the effect has changed", async () => {
    await put(2);
    anna.api.ports.outcomes.rows = [...changedRows(1), ...rowsOf(2, -0.3)];
    await step();
    expect(current()).toMatchObject({ everyone: 3, stages: [] });
  });

  it("watches the version in force while it tries another, and beside stages of somebody else", async () => {
    await put(2);
    anna.api.ports.outcomes.rows = rowsOf(2, 0.3);
    await put(2, [{ version: 1, share: 0.1 }]);
    expect(await step()).toBe("Nothing to do: stages are in force that the autopilot did not make.\n");
    anna.api.ports.outcomes.rows = rowsOf(2, -0.3);
    expect(await step()).toContain("Done: it takes back version 2.");
    expect(current()).toMatchObject({ everyone: 1, stages: [{ version: 1, share: 0.1 }] });
  });

  it("begins a version anew since when HTTP/3 has another effect, with the same policy, and not again if somebody goes back", async () => {
    anna.api.ports.outcomes.rows = changedRows(1);
    const begun = "begins version 1 anew, as HTTP/3's effect is another one since 2026-08-25";
    expect(await step()).toContain(`Done: it ${begun}.`);
    expect(current()).toEqual({
      everyone: 3,
      stages: [],
      note: `autopilot ${begun}`,
      cause: { step: "begins-anew", version: 1 },
    });
    const anew = await anna.api.ports.store.version(3);
    expect(anew?.policy).toEqual({
      ...LEARNING,
      source: "Version 1 begun anew, as something changed on 2026-08-25",
    });
    expect(await step()).toMatch(/^Nothing to do: nothing is proposed\. 0 new clients /);
    await put(1);
    expect(await step()).toBe("Nothing to do: somebody changed what it did within the last week.\n");
    later(7 * DAY_MS);
    // Another day would make another policy of it.
    anna.api.ports.outcomes.rows = changedRows(1, 10_350);
    expect(await step()).toBe(
      "Nothing to do: version 1 was begun anew before, and somebody has put it in force again.\n",
    );
  });

  it("begins no version anew within two weeks of another one", async () => {
    anna.api.ports.outcomes.rows = changedRows(1);
    await step();
    later(7 * DAY_MS);
    anna.api.ports.outcomes.rows = changedRows(3, 10_350);
    expect(await step()).toBe("Nothing to do: a version was begun anew within the last two weeks.\n");
    later(7 * DAY_MS);
    expect(await step()).toContain("Done: it begins version 3 anew");
  });

  it("ends its trial where the effect has changed, and then begins anew", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    anna.api.ports.outcomes.rows = changedRows(1);
    expect(await step()).toContain(
      "Done: it ends the trial of version 3, as HTTP/3's effect is another one since 2026-08-25.",
    );
    expect(current()).toMatchObject({ everyone: 1, stages: [] });
    expect(await step()).toContain("Done: it begins version 1 anew");
  });

  it("lets people win: it does not begin again what somebody ended", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    await put(1);
    expect(await step()).toBe("Nothing to do: somebody changed what it did within the last week.\n");
    later(7 * DAY_MS);
    expect(await step()).toBe("Nothing to do: version 3, which is proposed, was tried before.\n");
  });

  it("does nothing under the kill switch, and goes on with its trial afterwards", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    await anna.api.change({ kind: "kill-switch", to: "clear" });
    expect(await step()).toBe("Nothing to do: the kill switch is on.\n");
    await anna.api.change({ kind: "kill-switch", to: null });
    later(DAY_MS);
    expect(await step()).toContain("Done: it gives version 3 to 25 % of the clients.");
  });

  it("does nothing if somebody changes the activation meanwhile", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    let hasChanged = false;
    anna.api.instead = async ({ method }) => {
      if (method === "PUT" && !hasChanged) {
        hasChanged = true;
        await anna.api.change({ kind: "put", everyone: 2, stages: [] }, "ben");
      }
      return undefined;
    };
    const { code, err } = await anna.does("autopilot");
    expect([code, err.split("\n")[0]]).toEqual([4, "ben changed the activation meanwhile: nothing of yours was done."]);
    expect(current()).toMatchObject({ everyone: 2, stages: [] });
  });

  it("tries nothing that only a part of the visitors taught", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    anna.api.ports.outcomes.objects = { asked: 32, answered: 31 };
    expect(await step()).toBe("Nothing to do: not every object of the store answers.\n");
    expect(anna.api.asked()).not.toContain("POST /policies");
  });

  it("promotes nothing that cannot be judged", async () => {
    anna.api.ports.outcomes.rows = rowsOf(1, 0.2);
    await step();
    later(DAY_MS);
    anna.api.ports.outcomes.objects = { asked: 32, answered: 31 };
    expect(await step()).toBe("Nothing to do: not every object of the store answers.\n");
    anna.api.ports.outcomes.rows = [
      ...rowsOf(1, 0.2),
      ...drawnRows(3, [{ rttMs: 60, clients: 900, withheld: 300, saves: 0, overH3: 0.9, asn: 1 }]),
    ];
    expect(await step()).toMatch(
      /^Nothing to do: version 3 cannot be judged\. 75\.0 % of the clients were offered HTTP\/3/,
    );
  });

  it("does nothing where nothing is known, or nothing else would save time", async () => {
    expect(await step()).toMatch(/^Nothing to do: nothing is proposed\. 0 new clients /);
    anna.api.ports.outcomes.rows = rowsOf(1, -0.1);
    expect(JSON.parse((await anna.does("autopilot --json")).out)).toEqual({
      kind: "waits",
      why: "no other policy is known to save time",
    });
  });
});
