// Only here: every command of the operators' pages as typed, one after another, against `npm start`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { freePort } from "../workerd/listening.ts";
import { ROOT } from "../../base/root.ts";
import { requireGo } from "../setup/programs.ts";
import { commandsOf } from "./documented-commands.ts";
import { testFolder, until } from "./harness.ts";
import { interrupt, NPM, type Started, start } from "./npm-start.ts";

/** In this order an operator reads them. What repairs a store needs a broken one: maintenance.test.ts types that. */
const PAGES = ["operating", "incidents", "tokens", "privacy"];
const typedCommands = (page: string): string[] =>
  commandsOf(readFileSync(join(ROOT, `docs/${page}.md`), "utf8").split("\n## Repair a store\n")[0] ?? "");

/** What a command has to print. The first text is a part of the command. */
const SEEN: readonly (readonly [command: string, said: RegExp])[] = [
  ["/_h3/v1/health", /"status":"ok"/],
  ["validate ~/policy.json", /adaptive/],
  ["push ~/policy.json", /version 1/i],
  ["activate 1 --share 5%", /5 ?%/],
  ["rollback --yes", /25 ?%[^]*Offers made until now live for up to/],
  // The page of the incident's own test comes later: until here nobody has asked for one.
  ["policy -- stats", /pages decided about|Nothing was counted yet/],
  ["-H 'Accept: text/html'", /alt-svc: clear/i],
  ["audit --limit 10", /kill-switch\.on/],
  ["kill off", /version 0|observe/i],
  ["diff ~/not-in-japan.json", /\/rules/],
  ["push ~/not-in-japan.json", /rules by them match no visitor/],
  ["activate 2 --yes", /everyone: version 0[^]*everyone: version 2/],
  ["alice-2.token npm run", /alice|revision|in force/i],
  ["alice-1 is no longer known", /exit code 3/],
  ["forget --client", /forgot|nothing/i],
];

it(
  "every command of the pages for operators does what the page says, one after another",
  { timeout: 300_000 },
  async () => {
    const origin = await startDemoOrigin();
    const [stateDir, home, port] = [testFolder(), testFolder(), String(await freePort())];
    // Without Go's caches, which are in the home folder, `npm start` would compile everything anew.
    const goCaches = execFileSync(requireGo(), ["env", "-json", "GOCACHE", "GOMODCACHE"], { encoding: "utf8" });
    const env = { ...(JSON.parse(goCaches) as Record<string, string>), HOME: home, PORT: port, STATE_DIR: stateDir };
    let running: Started | undefined;
    const said = new Map<string, string>();
    try {
      const commands = PAGES.flatMap(typedCommands);
      expect(commands.length).toBeGreaterThan(12);
      for (const command of commands) {
        // Use this test's own port, folder and origin.
        const line = command
          .replaceAll("8443", port)
          .replaceAll(".adaptive-h3", stateDir)
          .replaceAll("http://127.0.0.1:3000", origin.url);
        if (/\bnpm start$/.test(line)) {
          if (running !== undefined) {
            interrupt(running);
            expect(await running.ended()).toBe(0);
          }
          const assignments = line.replace(/npm start$/, `exec ${NPM.join(" ")}`);
          const started = start(env, ["bash", "-c", assignments]);
          running = started;
          await until(
            "the welcome",
            () => (started.output().includes("Ctrl-C ends everything.") ? true : undefined),
            60_000,
          );
        } else said.set(command, await run(line, env));
      }
      for (const [command, what] of SEEN) {
        const found = [...said].find(([one]) => one.includes(command));
        expect(found?.[1], command).toMatch(what);
      }
      // Every line is a command. This finds out if some were missed.
      expect([...said.keys()].join("\n").split("\n").length).toBeGreaterThan(30);
    } finally {
      if (running !== undefined) {
        interrupt(running);
        await running.ended();
      }
      await origin.stop();
    }
  },
);

/** Runs lines as a person types them. Each must succeed. Returns their output. */
async function run(lines: string, env: Record<string, string>): Promise<string> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", lines], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await ended) as [number | null];
  expect(code, `${lines}\n${output}${errors}`).toBe(0);
  return output + errors;
}
