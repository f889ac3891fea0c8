// Only here: the documented `wrangler dev` commands, with the real wrangler.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { freePort } from "../workerd/listening.ts";
import { testFolder, until } from "./harness.ts";
import { type Started, start } from "./npm-start.ts";

const PAGE = { headers: { accept: "text/html" } };

/** What docs/deploy-cloudflare.md says to type, by its first words. */
function documented(words: string): string {
  const line = readFileSync(join(ROOT, "docs/deploy-cloudflare.md"), "utf8")
    .split("\n")
    .find((each) => each.startsWith(`    ${words}`));
  return line?.trim() ?? `docs/deploy-cloudflare.md has no ${words}`;
}

/** Types a command that ends in `wrangler dev`, with a port and a folder of this test. Resolves with the site's address. */
async function typed(command: string): Promise<{ site: string; started: Started }> {
  const port = await freePort();
  const own = `--port ${port} --inspector-port ${await freePort()} --persist-to ${testFolder()}`;
  const env = { HOME: testFolder(), CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
  const started = start(env, ["bash", "-c", `exec ${command}${command.startsWith("npm") ? " --" : ""} ${own}`]);
  await until("wrangler", () => (/Ready on/.test(started.output()) ? true : undefined), 60_000);
  return { site: `http://localhost:${port}`, started };
}

it("`npx wrangler dev` without ORIGIN says at once what to set, and that works", async () => {
  const { site, started } = await typed("npx wrangler dev");
  // Thrice: the worker that asked itself ended the runtime.
  let said = "";
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(`${site}/`, { ...PAGE, signal: AbortSignal.timeout(5_000) });
    expect(answer.status).toBe(500);
    said = await answer.text();
  }
  expect(started.output()).not.toMatch(/crash/i);

  const command = documented("npx wrangler dev --");
  expect(said).toContain(command);
  const demo = await startDemoOrigin();
  onTestFinished(demo.stop);
  const mended = await typed(command.replace("http://127.0.0.1:3000", demo.url));
  const page = await fetch(`${mended.site}/`, PAGE);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining("<h1>Home</h1>")]);
});

it("`npm run dev` serves a demo site, and what it says shows an offer", async () => {
  const { site, started } = await typed(documented("npm run dev"));
  const page = await fetch(`${site}/`, PAGE);
  expect([page.status, page.headers.get("alt-svc")]).toEqual([200, null]);
  const commands = /terminal\..*\n.*\n((?: {2}.*\n)+)/.exec(started.output())?.[1] ?? "exit 1";
  // A person at a terminal is asked.
  const line = commands.replace("activate 1", "activate 1 --yes");
  expect(execFileSync("bash", ["-c", line], { cwd: ROOT, encoding: "utf8", stdio: "pipe" })).toMatch(/^alt-svc: h3=/m);
});
