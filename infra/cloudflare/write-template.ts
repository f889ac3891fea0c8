import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix, resolve } from "node:path";
import { ROOT } from "../../base/root.ts";
import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { tokenEntry } from "../../policy-api/api/tokens.ts";

// `npm run template -- FOLDER` writes a Workers project that stands alone: what `npm create cloudflare`, Cloudflare's deploy button and
// `npm pack` start from. The worker's source is this repository's; what belongs to the template alone is in ./template.

const TEMPLATE = join(ROOT, "infra/cloudflare/template");

/** What a deployment needs, as git lists it: without tests, the bench, and what runs on one's own machine. */
const PARTS = [
  ".dev.vars.example",
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
const LEFT_OUT =
  /\.test\.ts$|(^|\/)testing[^/]*\.ts$|^infra\/cloudflare\/(template\/|write-template\.ts)|^docs\/(results\/(?!cost\.md)|deploy-server\.md|.*\.png$)/;

/** Where the template's own files go. */
const OWN: Readonly<Record<string, string>> = {
  "README.md": "README.md",
  "tsconfig.json": "tsconfig.json",
  "vitest.config.ts": "vitest.config.ts",
  "worker.test.ts": "test/worker.test.ts",
};

/** Of this repository's tools those that the template has too, at the same versions. */
const TOOLS = ["@cloudflare/vitest-plugin", "@types/node", "esbuild", "typescript", "uplot", "vitest", "wrangler"];

/** The token of `npm run dev`. A fixed one will do: only this machine can reach that worker. */
const DEV_TOKEN = "dev";

interface Package {
  readonly scripts: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

await runMain(async () => {
  const [to, repository, ...rest] = process.argv.slice(2);
  if (to === undefined || rest.length > 0 || !/^[\w.-]+\/[\w.-]+$/.test(repository ?? "OWNER/REPOSITORY"))
    throw new UserError(
      "Usage: npm run template -- FOLDER [OWNER/REPOSITORY]. The folder is new or empty; the repository is the public one on GitHub that it goes to.",
    );
  const folder = resolve(process.env["INIT_CWD"] ?? ".", to);
  if (existsSync(folder) && readdirSync(folder).some((name) => name !== ".git"))
    throw new UserError(`${folder} is not empty. Nothing was written.`);
  const listed = execFileSync("git", ["ls-files", ...PARTS], { cwd: ROOT, encoding: "utf8" })
    .trim()
    .split("\n");
  const files = listed.filter((file) => !LEFT_OUT.test(file));
  for (const file of files) copy(join(ROOT, file), join(folder, file));
  const own = await packageOf();
  for (const file of files.filter((one) => one.endsWith(".md"))) {
    const text = withoutDeadLinks(readFileSync(join(ROOT, file), "utf8"), file, files);
    writeFileSync(join(folder, file), withMissingCommands(text, own.scripts));
  }
  for (const [from, at] of Object.entries(OWN)) copy(join(TEMPLATE, from), join(folder, at));
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  // A button for no repository would be a dead one.
  const whole = repository === undefined ? readme.replace(/^\[!\[Deploy.*\n\n/m, "") : readme;
  writeFileSync(join(folder, "README.md"), whole.replaceAll("OWNER/REPOSITORY", repository ?? "OWNER/REPOSITORY"));
  writeFileSync(
    join(folder, ".gitignore"),
    "node_modules\n.wrangler\n.adaptive-h3\n.dev.vars\n.env*\n*.token\ntokens\ndist\nnpm-shrinkwrap.json\n",
  );
  // An older Node passes the tests, and runs none of the commands.
  writeFileSync(join(folder, ".npmrc"), "engine-strict=true\n");
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(own, null, 2)}\n`);
  // npm takes out of the lock file what the template does not have, and leaves the rest pinned.
  copy(join(ROOT, "package-lock.json"), join(folder, "package-lock.json"));
  const quietly = ["--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", ["install", ...quietly], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  console.log(
    `${folder} stands alone. Its README.md says how to go on, with Node 22.18 or newer:\n  cd '${folder}' && npm install && npm test`,
  );
});

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

/** Links to what the template does not have become their texts, and such pictures go. @param file where the text is */
function withoutDeadLinks(text: string, file: string, files: readonly string[]): string {
  return text.replaceAll(/(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)#\s]+)[^)]*\)/g, (whole, picture, said, to) => {
    const target = posix.join(posix.dirname(file), to as string);
    const isHere = files.some((one) => one === target || one.startsWith(`${target.replace(/\/$/, "")}/`));
    return isHere ? whole : picture === "" ? said : "";
  });
}

/** A page of the whole project, with a note below its title that says which of its commands the template does not have. */
function withMissingCommands(text: string, scripts: object): string {
  const named = text.match(/\bnpm (start|run (--silent )?[a-z][a-z:-]*)/g) ?? [];
  const missing = new Set(
    named
      .map((command) => command.replace("--silent ", ""))
      .filter((command) => !Object.hasOwn(scripts, command.replace(/^npm (run )?/, ""))),
  );
  if (missing.size === 0) return text;
  const list = [...missing].map((command) => `\`${command}\``).join(", ");
  return text.replace(
    "\n",
    `\n\n_This page is the whole project's. Only its repository has ${list}. Here \`npm run dev\` runs the worker._\n`,
  );
}

async function packageOf(): Promise<{ readonly scripts: object; readonly [field: string]: unknown }> {
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
      dev: `exec wrangler dev --upstream-protocol https --var ORIGIN:https://example.com --var POLICY_TOKENS:${await tokenEntry("dev", "autopilot", DEV_TOKEN)}`,
      deploy: "node infra/cloudflare/deploy.ts",
      check: `${scripts["types:check"]} && tsc && tsc -p policy-api/cli && wrangler deploy --dry-run --outdir dist`,
      test: "vitest run",
      types: scripts["types"],
      policy: "node policy-api/cli/main.ts",
      // A package is unpacked without the one and with the other.
      prepack: "test -f npm-shrinkwrap.json || cp package-lock.json npm-shrinkwrap.json",
      postpack: "test ! -f package-lock.json || rm -f npm-shrinkwrap.json",
    },
    // Of a package: nothing else that lies in the folder, as tokens.
    files: [
      ...new Set(PARTS.map((part) => part.split("/")[0])),
      ...Object.values(OWN).map((file) => file.split("/")[0]),
      ".npmrc",
      "npm-shrinkwrap.json",
    ],
    dependencies,
    devDependencies: Object.fromEntries(TOOLS.map((name) => [name, devDependencies[name]])),
  };
}
