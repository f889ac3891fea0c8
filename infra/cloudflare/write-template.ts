import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";

// `npm run template -- FOLDER` writes a Workers project that stands alone: what `npm create cloudflare`, Cloudflare's deploy button and
// `npm pack` start from. The worker's source is this repository's; what belongs to the template alone is in ./template.

const TEMPLATE = join(ROOT, "infra/cloudflare/template");

/** What a deployment needs, as git lists it: without tests, the bench, and what runs on one's own machine. */
const PARTS = [
  ".dev.vars.example",
  "CHANGELOG.md",
  "LICENSE",
  "SECURITY.md",
  "base",
  "docs",
  "durable",
  "infra/cloudflare",
  "infra/setup/install.mjs",
  "policy-api",
  "tsconfig.base.json",
  "worker",
  "worker-configuration.d.ts",
  "wrangler.toml",
];
const LEFT_OUT = /\.test\.ts$|(^|\/)testing[^/]*\.ts$|^infra\/cloudflare\/(template\/|write-template\.ts)/;

/** Where the template's own files go. */
const OWN: Readonly<Record<string, string>> = {
  "README.md": "README.md",
  "tsconfig.json": "tsconfig.json",
  "vitest.config.ts": "vitest.config.ts",
  "worker.test.ts": "test/worker.test.ts",
};

/** Of this repository's tools those that the template has too, at the same versions. */
const TOOLS = ["@cloudflare/vitest-plugin", "esbuild", "typescript", "uplot", "vitest", "wrangler"];

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

await runMain(() => {
  const [to, ...rest] = process.argv.slice(2);
  if (to === undefined || rest.length > 0)
    throw new UserError("Usage: npm run template -- FOLDER, which is new or empty.");
  const folder = resolve(process.env["INIT_CWD"] ?? ".", to);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UserError(`${folder} is not empty. Nothing was written.`);
  for (const file of execFileSync("git", ["ls-files", ...PARTS], { cwd: ROOT, encoding: "utf8" })
    .trim()
    .split("\n"))
    if (!LEFT_OUT.test(file)) copy(join(ROOT, file), join(folder, file));
  for (const [from, at] of Object.entries(OWN)) copy(join(TEMPLATE, from), join(folder, at));
  writeFileSync(join(folder, ".gitignore"), "node_modules\n.wrangler\n.dev.vars\ndist\n");
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(packageOf(), null, 2)}\n`);
  // npm takes out of the lock file what the template does not have, and leaves the rest pinned.
  copy(join(ROOT, "package-lock.json"), join(folder, "package-lock.json"));
  const quietly = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quietly], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  console.log(`${folder} stands alone. Its README.md says how to go on:\n  cd '${folder}' && npm install && npm test`);
});

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

function packageOf(): object {
  const own = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as Package;
  const { version, description, license, type, cloudflare, dependencies, devDependencies, scripts } = own;
  return {
    name: "adaptive-h3-worker",
    version,
    private: true,
    description,
    license,
    type,
    cloudflare,
    // It runs TypeScript as it is.
    engines: { node: ">=22.18" },
    scripts: {
      dev: "wrangler dev --upstream-protocol https --var ORIGIN:https://example.com",
      deploy: "node infra/cloudflare/deploy.ts",
      check: `${scripts["types:check"]} && tsc && wrangler deploy --dry-run --outdir dist`,
      test: "vitest run",
      types: scripts["types"],
      policy: "node policy-api/cli/main.ts",
      prepack: "cp package-lock.json npm-shrinkwrap.json",
      postpack: "rm -f npm-shrinkwrap.json",
    },
    dependencies,
    devDependencies: Object.fromEntries(TOOLS.map((name) => [name, devDependencies[name]])),
  };
}
