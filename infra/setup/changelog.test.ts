import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { mayFollow, releasedChangelog } from "./changelog.ts";

it.each([
  ["0.1.0", "0.1.0", true],
  ["0.1.1", "0.1.0", true],
  ["0.10.0", "0.9.9", true],
  ["1.0.0", "0.9.9", true],
  ["0.0.9", "0.1.0", false],
  ["0.1", "0.1.0", false],
  ["v0.2.0", "0.1.0", false],
])("%s may follow %s: %s", (version, current, expected) => {
  expect(mayFollow(version, current)).toBe(expected);
});

it("unreleased changes get a version and a day, and nothing else changes", () => {
  const text = "# Changelog\n\n## 0.2.0 - unreleased\n\n### Added\n\n- One.\n\n## 0.1.0 - 2026-01-01\n\n- Two.\n";
  expect(releasedChangelog(text, "0.2.0", "2026-12-01")).toBe(text.replace("unreleased", "2026-12-01"));
});

it.each([
  ["no heading", "# Changelog\n\n## 0.1.0 - 2026-01-01\n\n- One.\n"],
  ["no changes", "# Changelog\n\n## 0.2.0 - unreleased\n\n## 0.1.0 - 2026-01-01\n\n- One.\n"],
])("there is nothing to release with %s", (_, text) => {
  expect(releasedChangelog(text, "0.2.0", "2026-12-01")).toBeUndefined();
});

it("this project's own changelog begins with a release, or with changes that can be released", () => {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const newest = releasedChangelog(text, "9.9.9", "2026-12-01") ?? text;
  expect(newest).toMatch(/^# Changelog\n[^#]*## \d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\n/);
});
