import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { requireGo } from "../../infra/setup/programs.ts";
import { buildLab } from "../lab/programs.ts";

// The programs of the bench in other languages, by their own tests.

const BUILD_MS = 1_800_000;

beforeAll(() => buildLab(), BUILD_MS);

it("k6 keeps what k6 has: options, thresholds, outputs", () => {
  const go = requireGo();
  const cwd = join(ROOT, "bench/instrument/k6");
  expect(execFileSync(go, ["test", "./e2e"], { cwd, encoding: "utf8" })).toMatch(/^ok /);
});
