// Only here: the documented commands as typed, with the real wrangler building.
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { freePort } from "../workerd/listening.ts";
import { commandsOf } from "./documented-commands.ts";
import { startTestSystem, type TestSystem, testFolder, until } from "./harness.ts";
import { startZone } from "./zone.ts";

/** In the place of wrangler, where it would talk to Cloudflare: it notes what it was asked for. All else is its own. */
const WRANGLER = `#!/bin/sh
case "$*" in
  whoami*) [ -f "$ACCOUNT/logged-out" ] && printf '{\n  "loggedIn": false\n}'; exit ;;
  *--dry-run*) exec "$REAL_WRANGLER" "$@" ;;
  "secret put "*) cat > "$ACCOUNT/$3" ;;
  "secret list"*) printf '[%s]' "$(for name in "$ACCOUNT"/*_*; do [ -f "$name" ] && printf '{"name":"%s"}' "$(basename "$name")"; done)" ;;
esac
echo "$*" >> "$ACCOUNT/calls"
`;

/** Puts that, and what runs it, into a folder for the PATH. */
function writePrograms(bin: string): void {
  for (const [name, program] of Object.entries({ wrangler: WRANGLER, npx: '#!/bin/sh\nexec "$@"\n' })) {
    writeFileSync(join(bin, name), program);
    chmodSync(join(bin, name), 0o755);
  }
}

/** All of the page but the section that wrangler-dev.test.ts types. */
const SECTION = /^([\s\S]*?)^## Try the worker alone$/m;

it(
  "every command of docs/deploy-cloudflare.md for Cloudflare does what the page says, against an imitated zone",
  { timeout: 300_000 },
  async () => {
    const [home, account, bin] = [testFolder(), testFolder(), testFolder()];
    writePrograms(bin);
    const env = {
      ...process.env,
      HOME: home,
      // Where commands keep their last answers.
      STATE_DIR: home,
      ACCOUNT: account,
      REAL_WRANGLER: join(ROOT, "node_modules/.bin/wrangler"),
      // npm puts the folders of node_modules in front.
      npm_config_script_shell: scriptShell(bin),
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
    };
    const commands = commandsOf(SECTION.exec(readFileSync(join(ROOT, "docs/deploy-cloudflare.md"), "utf8"))?.[1] ?? "");
    expect(commands.length).toBeGreaterThanOrEqual(6);
    const said = new Map<string, string>();
    let system: TestSystem | undefined;
    for (const command of commands) {
      const line = command
        .replaceAll("https://www.example.com", `https://localhost:${system?.port ?? 0}`)
        .replaceAll("npm run deploy", "npm run deploy -- --yes");
      const { code, output } = await typed(line, {
        ...env,
        ...(system && { H3_CA: join(system.stateDir, "dev-cert.pem") }),
      });
      expect(code, `${line}\n${output}`).toBe(0);
      said.set(command, output);
      // From now on the worker has its secrets.
      if (system === undefined && existsSync(join(account, "CLIENT_KEY"))) system = await startInZone(account);
    }
    expect(readFileSync(join(account, "calls"), "utf8").trimEnd().split("\n")).toEqual([
      "login",
      expect.stringMatching(/^deploy --config \S+\/wrangler\.toml --env $/),
      expect.stringMatching(/^secret list --format json --config /),
      "secret put POLICY_TOKENS",
      "secret put CLIENT_KEY",
    ]);
    const saidOf = (part: string): string | undefined => [...said].find(([command]) => command.includes(part))?.[1];
    expect(saidOf("deploy")).toContain("wrangler.toml has no route, so no visitor of a site of yours comes to it.");
    expect(saidOf("deploy")).toContain("Nobody can call its API yet.");
    expect(saidOf("doctor")).toMatch(/offer/);
    expect(saidOf("cost")).toMatch(/^\$\d+(\.\d\d)? a month for 100,000,000 page views/m);
  },
);

it(
  "the template stands alone: its README's commands do what they say, also from its npm package",
  { timeout: 600_000 },
  async () => {
    const [above, account, bin] = [testFolder(), testFolder(), testFolder()];
    const template = join(above, "template");
    expect(await typed(`cd '${ROOT}' && npm run --silent template -- '${template}'`, process.env)).toMatchObject({
      code: 0,
      output: expect.stringContaining(`${template} stands alone.`),
    });
    const twice = await typed(`cd '${ROOT}' && npm run --silent template -- '${template}'`, process.env);
    expect(twice).toMatchObject({ code: 1, output: expect.stringContaining("is not empty. Nothing was written.") });
    const packed = `cd '${template}' && npm pack --silent --pack-destination '${above}' && tar -xzf '${above}'/*.tgz -C '${above}'`;
    expect(await typed(packed, process.env)).toMatchObject({ code: 0 });

    writePrograms(bin);
    const stubbed = {
      ...process.env,
      ACCOUNT: account,
      REAL_WRANGLER: join(ROOT, "node_modules/.bin/wrangler"),
      npm_config_script_shell: scriptShell(bin),
      PATH: `${bin}:${process.env["PATH"] ?? ""}`,
      // As it is in Cloudflare's builds.
      CI: "true",
    };
    const commands = commandsOf(readFileSync(join(template, "README.md"), "utf8"))
      .flatMap((lines) => lines.split("\n"))
      // It needs a public repository.
      .filter((command) => !command.startsWith("npm create"));
    const at = commands.indexOf("npm run dev");
    // Those that follow it are for the worker that it started.
    const [, ...others] = commands.splice(at, 5);
    expect(commands).toEqual([
      "npm install",
      "npm test",
      "npx wrangler login",
      "npm run --silent policy -- token me --scope write --out me.token > tokens",
      "npm run check",
      "npm run deploy",
      "npx wrangler secret put POLICY_TOKENS < tokens",
    ]);
    // It names no repository, so it has no button.
    expect(readFileSync(join(template, "README.md"), "utf8")).not.toContain("deploy.workers.cloudflare.com");
    for (const [folder, some] of [
      [template, commands],
      [join(above, "package"), ["npm install", "npm test", "npm run check", "npm run policy -- cost --page-views 1M"]],
    ] as const) {
      for (const command of some) {
        const { code, output } = await typed(
          `cd '${folder}' && ${command}`,
          /deploy$|^npx /.test(command) ? stubbed : process.env,
        );
        expect(code, `${command}\n${output}`).toBe(0);
      }
      expect(readFileSync(join(folder, "worker-configuration.d.ts"))).toEqual(
        readFileSync(join(ROOT, "worker-configuration.d.ts")),
      );
    }
    await seesAnOffer(template, others);
    const links = readdirSync(template, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
      .flatMap((file) =>
        [...readFileSync(join(template, file), "utf8").matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g)].map(([, link = ""]) =>
          join(dirname(file), link),
        ),
      );
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !existsSync(join(template, link)))).toEqual([]);
    // A page that names commands of the whole project says so first.
    const page = (name: string): string => readFileSync(join(template, "docs", name), "utf8");
    expect(page("operating.md")).toMatch(
      /^# Operating\n\n_This page is the whole project's\. Only its repository has `npm start`, `npm run bench`\. .*_\n/,
    );
    expect(page("privacy.md")).not.toContain("the whole project");
    expect(readFileSync(join(account, "calls"), "utf8")).toMatch(/^login\ndeploy --config \S+template\/wrangler\.toml/);
    expect(readFileSync(join(account, "POLICY_TOKENS"), "utf8")).toMatch(/^me:write:[0-9a-f]{64}\n$/);
    // What it installs is what is pinned here.
    const versionsIn = (file: string): Record<string, string> =>
      Object.fromEntries(
        Object.entries(
          (JSON.parse(readFileSync(file, "utf8")) as { packages: Record<string, { version: string }> }).packages,
        ).flatMap(([name, { version }]) => (name === "" ? [] : [[name, version]])),
      );
    expect(versionsIn(join(ROOT, "package-lock.json"))).toMatchObject(versionsIn(join(template, "package-lock.json")));
  },
);

/** Starts the template's `npm run dev` before a site of this machine, and types what its README says to see an offer. */
async function seesAnOffer(template: string, commands: readonly string[]): Promise<void> {
  const site = await startDemoOrigin();
  onTestFinished(() => site.stop());
  const port = await freePort();
  const dev = spawn("npm", ["run", "dev", "--", "--port", String(port), "--var", `ORIGIN:${site.url}`], {
    cwd: template,
    detached: true,
    stdio: "ignore",
  });
  onTestFinished(async () => {
    if (dev.pid !== undefined && dev.exitCode === null) process.kill(-dev.pid, "SIGINT");
    if (dev.exitCode === null) await once(dev, "exit");
  });
  await until("the worker answers", async () => {
    const answer = await fetch(`http://localhost:${port}/_h3/v1/health`).catch(() => undefined);
    return answer?.status === 200 ? true : undefined;
  });
  const here = commands.map((command) =>
    // It asks, on a terminal.
    command.replaceAll("8787", String(port)).replace(/ activate 1$/, "$& --yes"),
  );
  const setting = await typed([`cd '${template}'`, ...here.slice(0, -1)].join("\n"), process.env);
  expect(setting.code, setting.output).toBe(0);
  // Other isolates hear of a policy within 15 s.
  await until(
    "an offer",
    async () => (/^alt-svc: h3=/im.test((await typed(here.slice(-1).join(), process.env)).output) ? true : undefined),
    30_000,
  );
}

it("asks for all secrets at the button, explains each, and has no value that could be left there", () => {
  const lines = readFileSync(join(ROOT, ".dev.vars.example"), "utf8").split("\n");
  const asked = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const { cloudflare } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    cloudflare: { bindings: Record<string, { description: string }> };
  };
  expect(asked).toEqual(Object.keys(cloudflare.bindings).map((name) => `${name}=`));
  // What the worker reads, and wrangler.toml may not set.
  const settings = readFileSync(join(ROOT, "worker/settings.ts"), "utf8");
  const [, secrets = ""] = /Record<keyof typeof PLAIN \| ([^,]*), string/.exec(settings) ?? [];
  expect(new Set(secrets.match(/\w+/g))).toEqual(new Set(Object.keys(cloudflare.bindings)));
});

it("deploys nothing where nobody says yes, and says why", { timeout: 120_000 }, async () => {
  const [account, bin] = [testFolder(), testFolder()];
  writeFileSync(join(bin, "wrangler"), WRANGLER);
  chmodSync(join(bin, "wrangler"), 0o755);
  const env = {
    ...process.env,
    CI: "",
    ACCOUNT: account,
    // The others build the worker. This one ends before that matters.
    REAL_WRANGLER: "true",
    PATH: `${bin}:${process.env["PATH"] ?? ""}`,
  };
  const deploy = `node ${join(ROOT, "infra/cloudflare/deploy.ts")}`;
  expect(await typed(deploy, env)).toMatchObject({
    code: 1,
    output: expect.stringContaining("Use --yes to deploy without a question"),
  });
  writeFileSync(join(account, "logged-out"), "");
  const loggedOut = await typed(`${deploy} --yes`, env);
  expect(loggedOut).toMatchObject({
    code: 1,
    output: expect.stringMatching(/`npx wrangler login` makes one, .* Nothing was deployed\.\n$/),
  });
  expect(await typed(`${deploy} --all`, env)).toMatchObject({
    code: 1,
    output: expect.stringContaining("npm run deploy -- [--yes]"),
  });
  expect(existsSync(join(account, "calls"))).toBe(false);
});

/** A shell for npm's scripts that finds this folder's programs before those of node_modules. */
function scriptShell(bin: string): string {
  const shell = join(bin, "sh");
  writeFileSync(shell, `#!/bin/sh\nPATH="${bin}:$PATH" exec /bin/sh "$@"\n`);
  chmodSync(shell, 0o755);
  return shell;
}

/** The worker with the secrets that it was given, behind a zone that does to its answers what it should. */
async function startInZone(account: string): Promise<TestSystem> {
  const demo = await startDemoOrigin();
  onTestFinished(demo.stop);
  const zone = await startZone({});
  const secret = (name: string): string => readFileSync(join(account, name), "utf8").trim();
  const system = await startTestSystem({
    origin: demo.url,
    tokens: secret("POLICY_TOKENS"),
    variables: { OBJECTS_PER_REGION: "1", BUDGET_MS: "200", CLIENT_KEY: secret("CLIENT_KEY") },
    edgeFlags: ["-upstream", `unix:${zone.socket}`],
  });
  zone.leadsTo(system.workerd, demo.url);
  return system;
}

async function typed(lines: string, env: NodeJS.ProcessEnv): Promise<{ code: number | null; output: string }> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", lines], { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number | null];
  return { code, output: output + errors };
}
