// Only here: systemd's own tool reads the units, and their command lines serve.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import { startDemoOrigin } from "../workerd/demo-origin.ts";
import { freePort } from "../workerd/listening.ts";
import { type RunningProgram, startProgram } from "../workerd/processes.ts";
import { probe, testFolder, TOKEN, until } from "./harness.ts";
import { commandsOf, unitText, valuesOf } from "./unit-commands.ts";

const NAMES = ["worker", "edge"] as const;

/** What both services read, and what the worker alone reads. */
const SHARED = "/etc/adaptive-h3/origin.env";
const SECRET = "/etc/adaptive-h3/env";

it("systemd accepts the units", () => {
  const folder = testFolder();
  for (const name of NAMES) {
    // Only the users and the folder differ on this machine.
    const text = unitText(name).replaceAll("/opt/adaptive-h3/", ROOT).replaceAll("/opt/adaptive-h3", ROOT);
    writeFileSync(
      join(folder, `adaptive-h3-${name}.service`),
      text.replace(/^(User|SupplementaryGroups)=.*$/gm, "$1=root"),
    );
  }
  copyFileSync(join(ROOT, "infra/systemd/adaptive-h3-edge.socket"), join(folder, "adaptive-h3-edge.socket"));
  const files = ["adaptive-h3-edge.socket", ...NAMES.map((name) => `adaptive-h3-${name}.service`)].map((file) =>
    join(folder, file),
  );
  const verified = spawnSync("systemd-analyze", ["verify", ...files], { encoding: "utf8" });
  expect([verified.status, verified.stdout + verified.stderr]).toEqual([0, ""]);
});

it("the edge has a user of its own, and no secret in its environment", () => {
  const [worker, edge] = NAMES.map(unitText) as [string, string];
  expect(valuesOf(edge, "User")).toEqual(["adaptive-h3-edge"]);
  expect(valuesOf(worker, "User")).toEqual(["adaptive-h3"]);
  expect(valuesOf(edge, "SupplementaryGroups")).toEqual(["adaptive-h3"]);
  expect(valuesOf(edge, "EnvironmentFile")).toEqual([SHARED]);
  expect(valuesOf(worker, "EnvironmentFile")).toEqual([SHARED, SECRET]);
  const page = readFileSync(join(ROOT, "docs/deploy-server.md"), "utf8");
  expect(/^ +printf '%s\\n' (.*) > \/etc\/adaptive-h3\/origin\.env$/m.exec(page)?.[1]).toMatch(/^ORIGIN=\S+$/);
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
  const files: Record<string, Record<string, string>> = {
    [SHARED]: { ORIGIN: demo.url },
    [SECRET]: {
      POLICY_TOKENS: await tokenEntry("alice-1", "write", TOKEN),
      API_ORIGINS: "",
      BUDGET_MS: "5",
      OBJECTS_PER_REGION: "32",
      LOG_DECISIONS: "off",
    },
  };
  const onThisMachine = (words: string[]): string[] =>
    words.map((word) =>
      word
        .replace("/opt/adaptive-h3/", ROOT)
        .replace("/run/adaptive-h3-edge", run)
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
    // This machine has no /etc/adaptive-h3-tls: the edge makes a development certificate. Nor has it systemd, for which its shell is.
    const own =
      name === "edge"
        ? [
            ...args
              .slice(2)
              .filter((arg, i, all) => !/^-(cert|key)$/.test(all[i - 1] ?? "") && !/^-(cert|key)$/.test(arg)),
            "-state",
            certificates,
          ]
        : args;
    const [mask = ""] = valuesOf(unitText(name), "UMask");
    const started = startProgram("/bin/sh", {
      args: ["-c", `umask ${mask}; exec "$@"`, "sh", name === "edge" ? (args[1] ?? "") : program, ...own],
      cwd: ROOT,
      env: Object.assign({}, ...valuesOf(unitText(name), "EnvironmentFile").map((file) => files[file])),
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
  // The edge, which is in the worker's group, may connect to both, and nobody else but the worker's user.
  for (const name of ["visitors", "samples"]) expect(statSync(join(run, name)).mode & 0o777).toBe(0o770);
  // The sure way to the API, as docs/deploy-reference.md has it.
  const page = readFileSync(join(ROOT, "docs/deploy-reference.md"), "utf8");
  const call = /^ +(printf 'Authorization.*)$/m.exec(page)?.[1] ?? "";
  const token = join(certificates, "token");
  writeFileSync(token, TOKEN);
  const line = call.replace("~/alice-1.token", token).replace("/run/adaptive-h3", run);
  expect(JSON.parse(spawnSync("bash", ["-c", line], { encoding: "utf8" }).stdout)).toMatchObject({
    killSwitch: "fixed-h2",
  });
  for (const program of programs) await program.stop("SIGKILL");
  for (const name of NAMES) start(name);
  expect(await untilServed()).toEqual(["h1", "h2", "h3"]);
});
