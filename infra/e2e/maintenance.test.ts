// Only here: the documented commands on real files, with a worker that stops and starts.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { tokenEntry } from "../../policy-api/api/tokens.ts";
import { activatePolicy, type ApiReply, callApi } from "../workerd/policy-client.ts";
import { type RunningProgram, startProgram } from "../workerd/processes.ts";
import { commandsOf } from "./documented-commands.ts";
import { fixed, TOKEN, until } from "./harness.ts";
import { commandsOf as unitCommandsOf, unitText } from "./unit-commands.ts";

/** The blocks of commands under a heading of the pages about an own server and about incidents. */
function commandsUnder(heading: string): string[] {
  const text = ["deploy-server", "incidents"]
    .map((page) => readFileSync(join(ROOT, `docs/${page}.md`), "utf8"))
    .join("\n");
  return commandsOf(text.split(`\n## ${heading}\n`)[1]?.split(/\n##? /)[0] ?? "");
}

/** A machine on which the worker is installed as docs/deploy-server.md says, in a folder, with a systemctl of its own. */
async function installed() {
  // The path is short, because the path of a Unix socket may have at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), "h3-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const here = (text: string): string => text.replaceAll(/\/(opt|run|var\/lib|var\/backups)\//g, `${folder}/$1/`);
  const version = (name: string): void => {
    for (const file of ["infra/workerd/config.capnp", "infra/workerd/set-aside.ts", "dist/worker.js"])
      cpSync(join(ROOT, file), join(folder, "opt", name, file));
    writeFileSync(join(folder, "opt", name, "version"), name);
  };
  for (const name of ["run/adaptive-h3", "var/backups", "var/lib/adaptive-h3", "var/lib/adaptive-h3-marker"])
    mkdirSync(join(folder, name), { recursive: true });
  version("adaptive-h3");
  const variables = { ORIGIN: "http://127.0.0.1:9", POLICY_TOKENS: await tokenEntry("ann", "write", TOKEN) };
  const empty = { API_ORIGINS: "", BUDGET_MS: "", OBJECTS_PER_REGION: "", LOG_DECISIONS: "" };

  let worker: RunningProgram | undefined;
  const systemctl = async (verb: string): Promise<void> => {
    await worker?.stop();
    worker = undefined;
    if (verb === "stop") return;
    const program = (path = ""): string => here(path.replace("/opt/adaptive-h3/node_modules/", `${ROOT}node_modules/`));
    for (const [before, ...args] of unitCommandsOf(unitText("worker"), "ExecStartPre"))
      expect(spawnSync(program(before), args.map(here)).status).toBe(0);
    const [workerd, ...args] = unitCommandsOf(unitText("worker"), "ExecStart")[0] ?? [];
    worker = startProgram(program(workerd), {
      args: args.map(here),
      cwd: join(folder, "opt/adaptive-h3"),
      env: { ...empty, ...variables },
      onLine: () => undefined,
      onErrorLine: () => undefined,
    });
  };
  onTestFinished(() => systemctl("stop"));
  const socket = join(folder, "run/adaptive-h3/visitors");
  const call = (method: "GET" | "PUT", resource: string, body?: unknown): Promise<ApiReply> =>
    callApi(socket, TOKEN, method, resource, body, { "if-match": "*" });
  return {
    socket,
    call,
    systemctl,
    path: (name: string) => join(folder, name),
    next: () => version("adaptive-h3.next"),
    /** Types a block of commands. */
    type: async (block: string | undefined): Promise<void> => {
      for (const line of (block ?? "").split("\n")) {
        const [, verb, unit] = /^systemctl (stop|start|restart) adaptive-h3-(worker|edge)$/.exec(line) ?? [];
        if (verb === undefined) {
          const typed = spawnSync("bash", ["--norc", "-euo", "pipefail", "-c", here(line)], { encoding: "utf8" });
          expect([line, typed.status, typed.stderr]).toEqual([line, 0, ""]);
        } else if (unit === "worker") await systemctl(verb);
      }
    },
    /** Waits until the health says this of the store, and returns what is in force. */
    untilStore: async (state: string, revision: number | null): Promise<void> => {
      await until(
        `the store is ${state}, at revision ${revision}`,
        async () => {
          const reply = await call("GET", "health").catch(() => undefined);
          const health = reply?.json as { store: string; revision: number | null } | undefined;
          return (health?.store === state && health.revision === revision) || undefined;
        },
        30_000,
      );
    },
  };
}

it(
  "the commands of docs/deploy-server.md and docs/incidents.md back up, restore, repair, upgrade and go back",
  { timeout: 180_000 },
  async () => {
    const [backUp, restore] = commandsUnder("Back up and restore");
    const [begin, accept, takeNote] = commandsUnder("Repair a store");
    const [upgrade, goBack] = commandsUnder("Upgrade, and go back");
    const machine = await installed();
    const { call, type, untilStore, path, systemctl } = machine;
    const policyFiles = (): string[] => {
      const folder = path("var/lib/adaptive-h3/adaptive-h3-PolicyStore");
      return readdirSync(folder)
        .filter((name) => !name.startsWith("metadata"))
        .map((name) => join(folder, name));
    };
    await systemctl("start");
    await untilStore("ok", 0);
    await activatePolicy(machine.socket, TOKEN, fixed("fixed-h3"));
    await untilStore("ok", 1);
    await type(backUp);
    await untilStore("ok", 1);

    // A change after the backup is gone after the restore.
    expect((await call("PUT", "activation/kill-switch", { kind: "clear" })).status).toBe(200);
    await type(restore);
    await untilStore("ok", 1);
    expect((await call("GET", "activation")).json).toMatchObject({ everyone: 1, killSwitch: null });

    // A corrupt store, without a backup.
    await systemctl("stop");
    for (const file of policyFiles()) writeFileSync(file, Buffer.alloc(30_000, "A"));
    await systemctl("start");
    await untilStore("unreachable", null);
    await type(begin);
    await untilStore("ok", 0);
    expect(existsSync(path("var/backups/adaptive-h3-broken/adaptive-h3-PolicyStore"))).toBe(true);
    // With one.
    await type(restore);
    await untilStore("ok", 1);

    // An emptied store, which is accepted.
    await systemctl("stop");
    for (const file of policyFiles()) rmSync(file);
    await systemctl("start");
    await untilStore("replaced", 0);
    await type(accept);
    await untilStore("ok", 0);
    await type(restore);
    await untilStore("ok", 1);

    // A database that is not the policy store.
    await systemctl("stop");
    writeFileSync(path("var/lib/adaptive-h3/adaptive-h3-PathStore/metadata.sqlite"), Buffer.alloc(30_000, "A"));
    await systemctl("start");
    await untilStore("ok", 1);
    const health = async (): Promise<unknown> => (await call("GET", "health")).json;
    expect(await health()).toMatchObject({ problems: [expect.stringContaining("it was set aside") as string] });
    await type(takeNote);
    await until("a health that is well", async () =>
      ((await health()) as { status: string }).status === "ok" ? true : undefined,
    );

    machine.next();
    await type(upgrade);
    await untilStore("ok", 1);
    const version = (): string => readFileSync(path("opt/adaptive-h3/version"), "utf8");
    expect(version()).toBe("adaptive-h3.next");
    expect((await call("PUT", "activation/kill-switch", { kind: "clear" })).status).toBe(200);
    await type(goBack);
    await untilStore("ok", 1);
    expect(version()).toBe("adaptive-h3");
  },
);
