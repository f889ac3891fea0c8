// The JSON Schema of a policy, which the API shows, accepts what parsePolicy accepts.
import fc from "fast-check";
import bbr from "../policies/bbr.json" with { type: "json" };
import cubic from "../policies/cubic.json" with { type: "json" };
import published from "../policies/published.json" with { type: "json" };
import { Validator } from "@cfworker/json-schema";
import { expect, it } from "vitest";
import type { JsonSchema } from "./parse.ts";
import { INITIAL_POLICY, type Method, parsePolicy, type Policy, readPolicy } from "./policy.ts";
import { GAINS } from "./testing.ts";

/** With all fields: a field that is added to the types has to be added here. */
type Whole<T> = T extends readonly (infer I)[]
  ? readonly Whole<I>[]
  : T extends object
    ? { [K in keyof T]-?: Whole<NonNullable<T[K]>> }
    : T;

const methods: { [K in Method["kind"]]: Whole<Extract<Method, { kind: K }>> } = {
  gains: { ...GAINS, mixAbout: "m", ceilingBps: 25e6 },
  "zero-lines": {
    kind: "zero-lines",
    lines: [{ deliveryRateBps: 1e6, rttMs: [0, 10], lossRatio: [0.1, 2] }],
    unknown: "h3",
  },
  "rtt-threshold": { kind: "rtt-threshold", rttMs: 10 },
  share: { kind: "share", share: 0.5 },
};
const whole = (method: Whole<Method>): Whole<Policy> => ({
  schema: 3,
  mode: "adaptive",
  source: "s",
  provenance: {
    stack: "s",
    congestionControl: "c",
    quic: "q",
    command: "c",
    rowsSha256: "0".repeat(64),
    loads: 1,
    cells: 1,
  },
  method,
  contentBytes: { default: 1, routes: [{ pathPrefix: "/", bytes: 1 }] },
  visit: { pages: [1], returns: [{ afterS: 60, share: 0.1 }] },
  ma: { minS: 1, maxS: 2 },
  margin: { enter: 0.1, leave: 0 },
  exploration: { share: 0.5 },
  reports: { share: 0.5, inject: true },
  rules: [{ pathPrefix: "/", asn: [1], country: ["JP"], mode: "observe" }],
});
const wholes = Object.values(methods).map(whole);
const schema = readPolicy.schema ?? {};
const validator = new Validator(schema, "2020-12");
const schemaFaults = (value: unknown) => validator.validate(value).errors;

it.each<[string, unknown]>([
  ["the initial one", INITIAL_POLICY],
  ["published", published],
  ["cubic", cubic],
  ["bbr", bbr],
  ...wholes.map((policy): [string, unknown] => [`every field, by ${policy.method.kind}`, policy]),
])("has all of a policy: %s", (_name, policy) => {
  expect(schemaFaults(policy)).toEqual([]);
  expect(parsePolicy(policy).ok).toBe(true);
});

it("tells what stands in the place of what is left out", () => {
  const { properties = {}, required } = schema as { properties?: Record<string, JsonSchema>; required?: unknown };
  const absent = Object.entries(properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  const { schema: _, mode: __, ...rest } = INITIAL_POLICY;
  expect(Object.fromEntries(absent)).toEqual(rest);
  expect(required).toEqual(["schema", "mode"]);
});

const place = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 4 });
const instead = fc.oneof(
  fc.constantFrom<unknown>(null, -1, 0, 0.5, 1, 2, 1e13, "", "/", "h3", "observe", "JP", true, [], {}, [0], ["/"]),
  fc.jsonValue({ maxDepth: 1 }),
);

/** Replaces the value that the numbers lead to, deletes it, or adds something beside it. */
function changedAt(
  value: unknown,
  [number = 0, ...rest]: readonly number[],
  what: "put" | "remove" | "add",
  item: unknown,
): unknown {
  if (typeof value !== "object" || value === null) return item;
  const entries: [string, unknown][] = Object.entries(value);
  const chosen = entries[number % Math.max(1, entries.length)];
  const result =
    chosen === undefined || (rest.length === 0 && what === "add")
      ? [...entries, ["more", item] as const]
      : rest.length === 0 && what === "remove"
        ? entries.filter((entry) => entry !== chosen)
        : entries.map((entry) =>
            entry === chosen
              ? ([entry[0], rest.length === 0 ? item : changedAt(entry[1], rest, what, item)] as const)
              : entry,
          );
  return Array.isArray(value) ? result.map(([, one]) => one) : Object.fromEntries(result);
}

it("is right about every policy that is off in one place", () => {
  const counts = { taken: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.constantFrom(...wholes),
      place,
      fc.constantFrom("put", "remove", "add"),
      instead,
      (policy, at, what, item) => {
        const input: unknown = JSON.parse(JSON.stringify(changedAt(policy, at, what, item)));
        const parsed = parsePolicy(input);
        // Faults that a schema cannot describe are marked: if there are no others, the API answers 422 and not 400.
        const told = parsed.ok ? [] : parsed.faults.filter(({ relation }) => relation !== true);
        const faults = schemaFaults(input);
        if (told.length > 0) expect(faults).not.toEqual([]);
        else if (parsed.ok) expect(faults).toEqual([]);
        counts[told.length > 0 ? "refused" : "taken"]++;
      },
    ),
    { numRuns: 3_000 },
  );
  expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(300);
});

it.each([
  ["modes", "mode"],
  ["Method", "method"],
  ["contentbytes", "contentBytes"],
  ["visits", "visit"],
  ["margins", "margin"],
  ["explorations", "exploration"],
  ["report", "reports"],
  ["rule", "rules"],
])("of the unknown field %s it says that %s was meant", (name, meant) => {
  const parsed = parsePolicy({ ...INITIAL_POLICY, [name]: 1 });
  expect(parsed.ok ? [] : parsed.faults).toEqual([{ pointer: `/${name}`, message: `is not known here: ${meant}?` }]);
});
