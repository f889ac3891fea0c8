// Only here: a full disk, a corrupt and an emptied file, under a real workerd that ends and starts again.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ApiMethod, type ApiReply, callApi } from "../workerd/policy-client.ts";
import type { Workerd } from "../workerd/workerd.ts";
import { fixed, probe, startTestSystem, testFolder, type TestSystem, TOKEN, until } from "./harness.ts";

const PROTOCOLS = ["h1", "h2", "h3"] as const;

function call(system: TestSystem, method: ApiMethod, resource: string, body?: unknown): Promise<ApiReply> {
  return callApi(system.workerd.visitorsSocket, TOKEN, method, resource, body, { "if-match": "*" });
}

async function health(system: TestSystem): Promise<Record<string, unknown>> {
  return (await call(system, "GET", "health")).json as Record<string, unknown>;
}

/** The status and the Alt-Svc of the page, over each protocol. */
async function pages(system: TestSystem): Promise<string[]> {
  const url = `https://localhost:${system.port}/`;
  const loads = PROTOCOLS.map(async (protocol) => {
    const [load] = await probe(system, protocol, [url], ["-header", "Accept: text/html"]);
    return `${load?.status} ${load?.headers["Alt-Svc"]?.join() ?? "-"}`;
  });
  return [...new Set(await Promise.all(loads))];
}

/**
 * A disk that can be full: then workerd gets an error when it makes a file longer. Up to 32 KB it may, because workerd
 * cannot start without the indexes that SQLite makes in files of this size.
 */
function testDisk() {
  const flag = join(testFolder(), "full");
  const limit = (workerd: Workerd, bytes: string): void => {
    expect(spawnSync("prlimit", ["--pid", String(workerd.pid()), `--fsize=${bytes}:`]).status).toBe(0);
  };
  return {
    /** Runs workerd. Without the trap, the signal SIGXFSZ would end a workerd that meets the limit. */
    runner: ["bash", "-c", `trap "" XFSZ; [ ! -e ${flag} ] || ulimit -S -f 32; exec "$@"`, "-"] as const,
    /** Also for each workerd that starts from now on. */
    fill: (workerd: Workerd) => {
      writeFileSync(flag, "");
      limit(workerd, "32768");
    },
    free: (workerd: Workerd) => {
      rmSync(flag);
      limit(workerd, "unlimited");
    },
  };
}

function policyFiles({ stateDir }: TestSystem): string[] {
  const folder = join(stateDir, "objects/adaptive-h3-PolicyStore");
  return readdirSync(folder)
    .filter((name) => !name.startsWith("metadata"))
    .map((name) => join(folder, name));
}

/** Each file of the policy store begins with bytes that no database has. */
function corrupt(system: TestSystem): void {
  for (const file of policyFiles(system)) writeFileSync(file, Buffer.alloc(30_000, "A"));
}

it("with a full disk the kill switch works, survives workerd's end, and is stored when there is room", async () => {
  const disk = testDisk();
  const system = await startTestSystem({ runner: disk.runner, onRestart: () => undefined });
  await system.putPolicy(fixed("fixed-h3"));
  expect(await pages(system)).toEqual([`200 h3=":${system.port}"; ma=60`]);
  await until("the edge's word about HTTP/3", async () =>
    (await health(system))["http3"] === "ok" ? true : undefined,
  );
  expect(await health(system)).toMatchObject({ status: "ok", problems: [], store: "ok" });

  disk.fill(system.workerd);
  const killed = await call(system, "PUT", "activation/kill-switch", { kind: "fixed-h2", note: "incident" });
  expect([killed.status, killed.json]).toMatchObject([202, { stored: false, killSwitch: "fixed-h2" }]);
  expect(await pages(system)).toEqual(["200 clear"]);
  expect(await health(system)).toMatchObject({
    status: "degraded",
    killSwitch: { kind: "fixed-h2", stored: false },
    problems: expect.arrayContaining([
      "the kill switch is in force in memory only: the store could not take it yet",
    ]) as string[],
  });
  // The edge learns of it by its next question, within 250 ms. Nothing outside shows that it has: so four of them.
  await new Promise((resolve) => {
    setTimeout(resolve, 1_000);
  });

  // Another workerd, which has never heard of it, and whose disk is full too.
  const pid = system.workerd.pid();
  process.kill(pid, "SIGKILL");
  await until("another workerd", () => (system.workerd.pid() === pid ? undefined : true));
  // Until the edge has an answer of it, the edge asks the origin itself.
  await until("pages of another workerd", async () => (await pages(system)).join() === "200 clear" || undefined);
  await until("it is told", async () => {
    const { killSwitch } = await health(system).catch(() => ({ killSwitch: null }));
    return (killSwitch as { stored: boolean } | null)?.stored === false ? true : undefined;
  });

  disk.free(system.workerd);
  await until(
    "it is stored",
    async () => ((await health(system))["killSwitch"] as { stored: boolean } | null)?.stored === true || undefined,
    30_000,
  );
  const { json } = await call(system, "GET", "activation");
  expect(json).toMatchObject({ revision: 2, everyone: 1, killSwitch: "fixed-h2", author: "local" });
  expect(await pages(system)).toEqual(["200 clear"]);
  expect((await call(system, "DELETE", "activation/kill-switch")).status).toBe(200);
  await until("offers", async () => ((await pages(system))[0]?.includes("h3=") === true ? true : undefined));
});

it("with a corrupt store visitors get their pages, and the kill switch goes on and off", async () => {
  const lines: string[] = [];
  const system = await startTestSystem({ onErrorLine: (line) => void lines.push(line) });
  await system.putPolicy(fixed("fixed-h3"));
  await system.workerd.crash(() => corrupt(system));
  await until("a page", async () => ((await pages(system))[0] === "200 -" ? true : undefined));
  expect(await health(system)).toMatchObject({ status: "degraded", store: "unreachable" });
  // Its files stay in their places, so that an empty store never passes for it.
  expect(lines.filter((line) => /^The policy store .* It stays as it is/.test(line))).toHaveLength(1);
  expect(policyFiles(system).filter((file) => file.includes("set-aside"))).toEqual([]);

  const killed = await call(system, "PUT", "activation/kill-switch", { kind: "clear" });
  expect(killed.status).toBe(202);
  expect(await pages(system)).toEqual(["200 clear"]);
  const off = await call(system, "DELETE", "activation/kill-switch");
  expect([off.status, off.json]).toMatchObject([202, { stored: false, killSwitch: null }]);
  await until("no kill switch", async () => ((await pages(system))[0] === "200 -" ? true : undefined));
});

it("an emptied store does not pass for a new one: the log and the health say so, until it is accepted", async () => {
  const lines: string[] = [];
  const system = await startTestSystem({ onErrorLine: (line) => void lines.push(line) });
  await system.putPolicy(fixed("fixed-h3"));
  const marker = join(system.stateDir, "marker/store-id");
  const id = await until("the marker", () => {
    try {
      return readFileSync(marker, "utf8");
    } catch {
      return undefined;
    }
  });
  await system.workerd.crash();
  expect(await health(system)).toMatchObject({ status: "ok", store: "ok", revision: 1 });

  await system.workerd.crash(() => {
    for (const file of policyFiles(system)) truncateSync(file);
  });
  await until("a line in the log", () =>
    lines.some((line) => line.includes("was emptied or replaced")) ? true : undefined,
  );
  expect(await health(system)).toMatchObject({
    status: "degraded",
    store: "replaced",
    revision: 0,
    problems: ["the policy store is not the one that this deployment had: it was emptied or replaced"],
  });
  expect(readFileSync(marker, "utf8")).toBe(id);

  rmSync(marker);
  await until("it is accepted", async () => ((await health(system))["store"] === "ok" ? true : undefined));
  expect(readFileSync(marker, "utf8")).not.toBe(id);
});
