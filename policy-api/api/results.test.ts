import { beforeEach, describe, expect, it } from "vitest";
import { INITIAL_POLICY, type Policy } from "../decision/policy.ts";
import type { Proposal, Results } from "./contract/results.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { drawnRows } from "../visitors/testing-rows.ts";
import { callApi, faultsOf, type Reply, type TestPorts, testPorts, TOKENS } from "./testing.ts";

const LEARNING: Policy = {
  ...INITIAL_POLICY,
  mode: "adaptive",
  method: EMPTY_GAINS,
  exploration: { share: 1 },
  reports: { share: 1, inject: true },
};
/** Of version 2: 1,500 far clients an arm that HTTP/3 helps, and 99 in another autonomous system. */
const ROWS = drawnRows(2, [
  { rttMs: 200, clients: 1500, saves: 0.2, overH3: 0.9, asn: 64_496, country: "JP" },
  { rttMs: 20, clients: 99, saves: 0, overH3: 0.9, asn: 64_497 },
]);

let ports: TestPorts;
beforeEach(async () => {
  ports = await testPorts();
  await ports.store.create({ policy: LEARNING, author: "setup", note: null });
});

const get = async (resource: string): Promise<Reply> => callApi(ports, "GET", resource, { token: TOKENS.read });
const resultsOf = async (query: string): Promise<Results> => (await get(`results${query}`)).json as unknown as Results;
const proposalOf = async (query: string): Promise<Proposal> =>
  (await get(`results/proposal${query}`)).json as unknown as Proposal;

describe("GET results", () => {
  beforeEach(() => {
    ports.outcomes.rows = ROWS;
  });

  it("compares in all, and by RTT, cell, country and autonomous system", async () => {
    const results = await resultsOf("?version=2");
    expect(results.sentence).toMatch(
      /^In all, offering HTTP\/3 saves \d+ to \d+ % of the load time; for visitors with an RTT from 150/,
    );
    expect(results.everyone).toMatchObject({
      offered: { clients: 1599, load: { clients: 1599 }, lcp: null },
      withheld: { clients: 1599, overH3: 0 },
      load: { claim: { kind: "faster", objections: [] } },
      lcp: { gain: null, saved: null, claim: { kind: "none", interval: null } },
    });
    const { saved } = results.everyone.load;
    expect(saved?.low).toBeGreaterThan(0);
    expect(saved?.high).toBeLessThan(0.3);
    expect(results.rttClasses.map(({ fromMs, toMs, offered }) => [fromMs, toMs, offered.clients])).toEqual([
      [0, 10, 0],
      [10, 30, 99],
      [30, 80, 0],
      [80, 150, 0],
      [150, null, 1500],
    ]);
    expect(
      results.cells.map(({ position, rttMs, contentBytes, lossRatio }) => [position, rttMs, contentBytes, lossRatio]),
    ).toEqual(["new", "next"].flatMap((position) => [20, 150].map((rtt) => [position, rtt, 1_000_000, null])));
    expect(results.autonomousSystems.map(({ asn }) => asn)).toEqual([64_496]);
    expect(results.autonomousSystemsLeftOut).toBe(1);
    expect(results.countries.map(({ country, offered }) => [country, offered.clients])).toEqual([["JP", 1500]]);
    expect(results.countriesLeftOut).toBe(0);
    expect(results.grounds).toMatchObject({ offeredShare: 0.5, expectedShare: 0.5, http3Elsewhere: 0, objections: [] });
  });

  it("says since when HTTP/3 has another effect", async () => {
    expect((await resultsOf("?version=2")).change).toBeNull();
    ports.outcomes.rows = [0.3, 0.3, -0.2].flatMap((saves, i) =>
      drawnRows(2, [{ rttMs: 200, clients: 500, saves, overH3: 0.9, asn: 64_496, period: 10_343 + i }]),
    );
    const { change, sentence } = await resultsOf("?version=2");
    expect(change).toMatchObject({ since: "2026-08-25T00:00:00.000Z" });
    expect(change?.text).toMatch(
      /^Since 2026-08-25 HTTP\/3's effect is another one: of visitors with RTTs of 150 ms and more, next pages over it took 0\.\d\d \(0\.\d\d to 0\.\d\d\) of HTTP\/2's time, and now they take 1\.\d\d \(1\.\d\d to 1\.\d\d\)\. The server may have changed, the way to it, or which pages visitors open\.$/,
    );
    expect(sentence.endsWith(` ${change?.text}`)).toBe(true);
    expect(await proposalOf("?version=2")).toMatchObject({
      kind: "changed",
      why: `${change?.text} Give the policy another \`source\`, push and activate it: its results begin anew.`,
    });
  });

  it("says since when offers are hardly followed any more", async () => {
    expect((await resultsOf("?version=2")).unused).toBeNull();
    ports.outcomes.rows = [0.9, 0.9, 0].flatMap((overH3, i) =>
      drawnRows(2, [{ rttMs: 200, clients: 500, saves: 0.1, overH3, asn: 64_496, period: 10_343 + i }]),
    );
    const { unused, sentence } = await resultsOf("?version=2");
    expect(unused).toMatchObject({ since: "2026-08-25T00:00:00.000Z" });
    expect(unused?.text).toMatch(
      /^Since 2026-08-25 offers are hardly followed any more: they brought \d\d % of next pages over to HTTP\/3, and now 0 %\. HTTP\/3 may have stopped working: run the doctor\.$/,
    );
    expect(sentence.endsWith(` ${unused?.text}`)).toBe(true);
  });

  it("is of the version in force for everyone, unless another one is named", async () => {
    expect(await resultsOf("")).toMatchObject({ version: 1, everyone: { offered: { clients: 0 } } });
    await ports.store.change({ kind: "put", everyone: 2, stages: [] }, { author: "a", note: null, ifMatch: "*" });
    expect(await resultsOf("")).toMatchObject({ version: 2, everyone: { offered: { clients: 1599 } } });
    expect(ports.outcomes.asked).toEqual([1, 2]);
  });

  it("says how many objects answered", async () => {
    ports.outcomes.objects = { asked: 32, answered: 31 };
    expect((await resultsOf("?version=2")).objects).toEqual({ asked: 32, answered: 31 });
    ports.outcomes.rows = [];
    ports.outcomes.objects = { asked: 32, answered: 0 };
    expect((await resultsOf("?version=2")).sentence).toBe("Nothing can be said: none of the store's objects answered.");
  });

  it("without clients, says that nothing can be said", async () => {
    const results = await resultsOf("?version=0");
    expect(results.sentence).toBe("Nothing can be said yet: this version has no clients that were drawn.");
    expect(results.grounds).toMatchObject({ offeredShare: null, http3Elsewhere: null });
    expect(results).toMatchObject({ staying: null, cells: [], autonomousSystems: [] });
  });

  it("of a version whose policy cannot be read, tells all but its cells", async () => {
    ports.store.unreadableVersions.add(2);
    expect(await resultsOf("?version=2")).toMatchObject({ cells: [], everyone: { offered: { clients: 1599 } } });
  });
});

describe("GET results/proposal", () => {
  it("is a policy that can be added, and nothing is stored", async () => {
    ports.outcomes.rows = ROWS;
    const proposal = await proposalOf("?version=2");
    if (proposal.kind !== "proposed") throw new Error(proposal.why);
    expect(proposal.changes.every(({ text }) => text.startsWith("At "))).toBe(true);
    const turned = expect.objectContaining({ rttMs: 150, contentBytes: 1_000_000, answer: "offer" });
    expect(proposal.turned).toContainEqual(turned);
    expect(proposal.gain.low).toBeGreaterThan(0);
    expect((await get("policies")).json["policies"]).toHaveLength(2);
    const added = await callApi(ports, "POST", "policies", { body: { policy: proposal.policy } });
    expect([added.status, added.json["version"]]).toEqual([201, 3]);
    expect(added.json["source"]).toBe("Learnt from outcomes of version 2");
  });

  it.each([
    ["?version=1", "no-gain-table", "The version decides by no gain table."],
    [
      "?version=2",
      "not-comparable",
      "0 new clients that were not offered HTTP/3 have reported; it takes 100 to tell whether something else offers it.",
    ],
  ])("%s: none, and why: %s", async (query, kind, why) => {
    expect(await proposalOf(query)).toMatchObject({ kind, why, objects: { asked: 32, answered: 32 } });
  });

  it("none of clients in cells that the table does not have", async () => {
    ports.outcomes.rows = ROWS.map((row) => ({ ...row, key: row.key.replace(/^(new|next)\/\d/, "$1/9") }));
    expect(await proposalOf("?version=2")).toMatchObject({ kind: "no-evidence" });
  });

  it("refuses a version whose policy cannot be read", async () => {
    ports.store.unreadableVersions.add(2);
    const { status, json } = await get("results/proposal?version=2");
    expect([status, json["detail"]]).toEqual([422, "version 2 cannot be read any more"]);
  });
});

it.each(["results", "results/proposal"])("%s: a version that is not there, or is none", async (resource) => {
  const missing = await get(`${resource}?version=7`);
  expect([missing.status, faultsOf(missing)]).toEqual([404, ["/query/version: is no known version"]]);
  for (const text of ["", "x", "-1", "0x1", "1.5"])
    expect([text, (await get(`${resource}?version=${text}`)).status]).toEqual([text, 400]);
  expect(ports.outcomes.asked).toEqual([]);
});

it.each(["results", "results/proposal"])("%s: 503 if nobody knows which version is in force", async (resource) => {
  ports.store.unreadable = true;
  expect((await get(resource)).status).toBe(503);
  expect((await get(`${resource}?version=2`)).status).toBe(200);
});
