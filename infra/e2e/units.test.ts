import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { freePort } from "../workerd/listening.ts";
import { type RunningProgram, startProgram } from "../workerd/processes.ts";
import { probe, testFolder, until } from "./harness.ts";
import { commandsOf, unitText } from "./unit-commands.ts";

const NAMES = ["worker", "edge"] as const;

it("systemd accepts the units", () => {
  const folder = testFolder();
  for (const name of NAMES) {
    // Only the user and the folder differ on this machine.
    const text = unitText(name).replaceAll("/opt/adaptive-h3/", ROOT).replaceAll("/opt/adaptive-h3", ROOT);
    writeFileSync(join(folder, `adaptive-h3-${name}.service`), text.replace("User=adaptive-h3", "User=root"));
  }
  const files = NAMES.map((name) => join(folder, `adaptive-h3-${name}.service`));
  const verified = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  expect([verified.status, verified.stdout + verified.stderr]).toEqual([0, ""]);
});

it("the units' commands serve, also after both have been killed", async () => {
  // The path is short, because the path of a Unix socket may have at most 107 bytes.
  const run = mkdtempSync(join(tmpdir(), "h3-"));
  onTestFinished(() => rmSync(run, { recursive: true, force: true }));
  const stateDir = testFolder();
  const certificates = testFolder();
  for (const name of ["objects", "marker"]) mkdirSync(join(stateDir, name));
  const demo = await startDemoOrigin();
  onTestFinished(demo.stop);
  const port = await freePort();
  const environment: Record<string, string> = {
    ORIGIN: demo.url,
    POLICY_TOKENS: "",
    API_ORIGINS: "",
    BUDGET_MS: "5",
    OBJECTS_PER_REGION: "32",
    LOG_DECISIONS: "off",
  };
  const onThisMachine = (words: string[]): string[] =>
    words.map((word) =>
      word
        .replace("/opt/adaptive-h3/", ROOT)
        .replace("/run/adaptive-h3", run)
        .replace("/var/lib/adaptive-h3-marker", join(stateDir, "marker"))
        .replace("/var/lib/adaptive-h3", join(stateDir, "objects"))
        .replace("${ORIGIN}", demo.url)
        .replace(/^:443$/, `127.0.0.1:${port}`),
    );
  const start = (name: (typeof NAMES)[number]): RunningProgram => {
    for (const [before = "", ...args] of commandsOf(unitText(name), "ExecStartPre").map(onThisMachine))
      expect(spawnSync(before, args).status).toBe(0);
    const [program = "", ...args] = onThisMachine(commandsOf(unitText(name), "ExecStart")[0] ?? []);
    // This machine has no /etc/adaptive-h3-tls: the edge makes a development certificate.
    const own =
      name === "edge"
        ? [
            ...args.filter((arg, i) => !/^-(cert|key)$/.test(args[i - 1] ?? "") && !/^-(cert|key)$/.test(arg)),
            "-state",
            certificates,
          ]
        : args;
    const started = startProgram(program, {
      args: own,
      cwd: ROOT,
      env: environment,
      onLine: () => undefined,
      onErrorLine: () => undefined,
    });
    onTestFinished(() => started.stop());
    return started;
  };
  const untilServed = async (): Promise<string[]> => {
    const served: string[] = [];
    for (const protocol of ["h1", "h2", "h3"] as const) {
      await until(`a page over ${protocol}`, async () => {
        try {
          const [load] = await probe({ stateDir: certificates }, protocol, [`https://localhost:${port}/`]);
          return load?.status === 200 ? true : undefined;
        } catch {
          return undefined;
        }
      });
      served.push(protocol);
    }
    return served;
  };
  const programs = NAMES.map((name) => start(name));
  expect(await untilServed()).toEqual(["h1", "h2", "h3"]);
  for (const program of programs) await program.stop("SIGKILL");
  for (const name of NAMES) start(name);
  expect(await untilServed()).toEqual(["h1", "h2", "h3"]);
});
