import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { mayFollow, releasedChangelog } from "./changelog.ts";

// `npm run release -- VERSION` dates the changelog, sets the version, commits and tags. It does not push.

const git = (...args: readonly string[]): string => execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();

await runMain(() => {
  const [version = "", ...rest] = process.argv.slice(2);
  const packageFile = join(ROOT, "package.json");
  const { version: current } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  if (rest.length > 0 || !mayFollow(version, current))
    throw new UserError(`Usage: npm run release -- VERSION, such as 1.2.3, not below ${current}.`);
  if (git("status", "--porcelain") !== "")
    throw new UserError("There are uncommitted changes: commit or remove them, then try again.");
  const tag = `v${version}`;
  if (git("tag", "--list", tag) !== "") throw new UserError(`The tag ${tag} already exists.`);
  const changelogFile = join(ROOT, "CHANGELOG.md");
  const day = new Date().toISOString().slice(0, "YYYY-MM-DD".length);
  const changelog = releasedChangelog(readFileSync(changelogFile, "utf8"), version, day);
  if (changelog === undefined)
    throw new UserError("CHANGELOG.md has no changes under a heading such as '## 0.2.0 - unreleased'.");

  writeFileSync(changelogFile, changelog);
  execFileSync("npm", ["version", version, "--no-git-tag-version", "--allow-same-version"], {
    cwd: ROOT,
    stdio: "ignore",
  });
  git("commit", "--quiet", "--all", "--message", `release: ${version}`);
  git("tag", "--annotate", tag, "--message", `adaptive-h3 ${version}`);
  console.log(`${tag} is committed and tagged. To publish it: git push --follow-tags`);
});
