import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY } from "../decision/policy.ts";
import { EMPTY_GAINS } from "../visitors/empty-table.ts";
import { type DrawnPlace, drawnRows } from "../visitors/testing-rows.ts";
import { type Person, person } from "./testing.ts";

/** Invented clients, as the documents say: HTTP/3 saves a tenth from 80 ms on, and nothing below. */
const NEAR: readonly DrawnPlace[] = [
  { rttMs: 20, clients: 2500, saves: 0, overH3: 0.8, asn: 64_496, tellLcp: true },
  { rttMs: 50, clients: 1000, saves: 0, overH3: 0.8, asn: 64_497, tellLcp: true },
];
const FAR: readonly DrawnPlace[] = [
  { rttMs: 100, clients: 2000, saves: 0.1, overH3: 0.8, asn: 64_498, tellLcp: true },
  { rttMs: 200, clients: 2000, saves: 0.1, overH3: 0.8, asn: 64_498, tellLcp: true },
];

it.each([
  ["results", "docs/read-results.md", [...NEAR, ...FAR]],
  ["propose", "docs/proposals.md", FAR],
])("what `%s` prints is in %s", async (command, file, places) => {
  const { out } = await (await operatorOf(places)).does(command, 100);
  // The page leaves out two of the three tables.
  const shown = out.trimEnd().replace(/Largest Contentful Paint\n.*(?=all pages)/s, "...\n\n");
  expect(readFileSync(join(ROOT, file), "utf8")).toContain(`\n${shown.replaceAll(/^(?=.)/gm, "    ")}\n`);
});

/** Somebody at a server that these clients visited. */
async function operatorOf(places: readonly DrawnPlace[]): Promise<Person> {
  const anna = await person();
  const policy = { ...INITIAL_POLICY, mode: "adaptive" as const, method: EMPTY_GAINS };
  await anna.api.ports.store.create({ policy, author: "setup", note: null });
  await anna.api.change({ kind: "put", everyone: 1, stages: [] });
  anna.api.ports.outcomes.rows = drawnRows(1, places);
  return anna;
}
