// Only here: the edge on a socket, against h2spec.
import { beforeAll, expect, it } from "vitest";
import { buildH2spec } from "../setup/build.ts";
import { type Outcome, runH2spec, startPlain } from "./h2spec/run.ts";
import { probe, startTestSystem } from "./harness.ts";

/** All cases of the pinned h2spec, with the strict one. */
const CASES = 146;

beforeAll(buildH2spec);

it(
  "the edge fails no case of h2spec (HTTP/2, HPACK) that net/http alone passes, and serves on",
  { timeout: 180_000 },
  async () => {
    const errors: string[] = [];
    const system = await startTestSystem({ onErrorLine: (line) => errors.push(line) });
    const plainPort = await startPlain(system.stateDir);
    const [edge, plain] = await Promise.all([runH2spec(system.port), runH2spec(plainPort)]);
    console.log(`h2spec, ${edge.cases.length} cases: edge: ${summary(edge)}; plain net/http: ${summary(plain)}`);

    expect(edge.cases).toHaveLength(CASES);
    expect(plain.cases).toEqual(edge.cases);
    const excused = new Set(plain.failures.map(({ name }) => name));
    expect(edge.failures.filter(({ name }) => !excused.has(name))).toEqual([]);
    const [load] = await probe(system, "h2", [`https://localhost:${system.port}/`]);
    expect(load).toMatchObject({ protocol: "h2", status: 200 });
    expect(errors.filter((line) => line.includes("panic"))).toEqual([]);
  },
);

function summary({ failures, flaky }: Outcome): string {
  const said = `${failures.length} failed (${failures.map(({ name }) => name).join(", ")})`;
  return flaky.length === 0 ? said : `${said}, passed alone but not among all: ${flaky.join(", ")}`;
}
