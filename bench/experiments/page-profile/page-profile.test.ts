import { expect, it } from "vitest";
import { reportText } from "../../harness/run.ts";
import { EXAMPLE_MACHINE } from "../../model/testing-machine.ts";
import { ARMS, profileReport, type ProfileRow, profileSummary } from "./report.ts";
import { COLLECTOR, OTHER, type Profile, sharesOf, STEP_NAMES } from "./steps.ts";

const named = (id: number, functionName: string, children: number[] = []): Profile["nodes"][number] => ({
  id,
  callFrame: { functionName },
  children,
});

it("a sample is of the innermost step that it stands in, and idle time of none", () => {
  const profile: Profile = {
    nodes: [
      named(1, "(root)", [2, 3, 4]),
      named(2, "(idle)"),
      named(3, "(garbage collector)"),
      named(4, "handleVisitor", [5, 8]),
      named(5, "lookUp", [6]),
      // V8 names a method with its class.
      named(6, "Hasher.named", [7]),
      named(7, "update"),
      named(8, "somethingNew"),
    ],
    samples: [2, 3, 5, 7, 8, 4],
    timeDeltas: [0, 1_000, 50, 100, 200, 150, 0],
  };
  const shares = sharesOf(profile);
  expect(Object.fromEntries([...(shares ?? [])].filter(([, share]) => share > 0))).toEqual({
    [COLLECTOR]: 0.1,
    "finds what is known of the client": 0.2,
    "names the client by keyed hashes": 0.4,
    [OTHER]: 0.3,
  });
  expect([...(shares?.keys() ?? [])]).toEqual(STEP_NAMES);
});

it("a profile without a sample has no shares", () => {
  expect(sharesOf({ nodes: [named(1, "(root)")], samples: [], timeDeltas: [] })).toBeUndefined();
});

it("the report has each step of both arms, and what deciding adds", () => {
  const rows = ARMS.flatMap((arm) =>
    [0, 1, 2].flatMap((round) =>
      STEP_NAMES.map((step, i): ProfileRow => ({
        id: `${arm}/${round}/${i}`,
        arm,
        round,
        step,
        startedMs: 1e12,
        share: 1 / STEP_NAMES.length,
        us: (arm === "adaptive" ? 20 : 10) + round,
      })),
    ),
  );
  const starts = [
    { at: "2026-01-01T00:00:00.000Z", lanes: 1, rowsBefore: 0, machine: { ...EXAMPLE_MACHINE, commit: "abc" } },
  ];
  const summary = profileSummary({ rows, command: "npm run bench -- page-profile", starts });
  const text = reportText("page-profile", profileReport(summary));
  for (const step of STEP_NAMES) expect(text).toMatch(new RegExp(`\\| ${step} +\\| +11\\.0 \\(10\\.0 to 12\\.0\\)`));
  expect(text).toMatch(/\| in all .* 121 \(110 to 132\) \| +231 \(220 to 242\) \| +110 \|/);
});
