// Only here: workerd meets database files that it cannot open, and starts.
import { closeSync, existsSync, globSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { callApi } from "../workerd/policy-client.ts";
import { fixed, probe, startTestSystem, type TestSystem, TOKEN, until } from "./harness.ts";
import { changeOnDisk, rowsOnDisk } from "./objects.ts";

const PROBLEM = "a database of what is known about clients could not be opened: it was set aside, and begins anew";

async function health(system: TestSystem): Promise<unknown> {
  return (await callApi(system.workerd.visitorsSocket, TOKEN, "GET", "health")).json;
}

/** Overwrites the headers of databases. The log may hold a sound first page, so it goes into the file first. */
function ruin({ stateDir }: TestSystem, pattern: string): void {
  for (const file of globSync(pattern, { cwd: join(stateDir, "objects") })) {
    const path = join(stateDir, "objects", file);
    const database = new DatabaseSync(path);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
    const descriptor = openSync(path, "r+");
    writeSync(descriptor, Buffer.alloc(16, "A"), 0, 16, 0);
    closeSync(descriptor);
  }
}

/** Visits the site, until the visit is on disk. */
async function visit(system: TestSystem): Promise<void> {
  await probe(system, "h2", [`https://localhost:${system.port}/image/2000000`]);
  await until("a row", () => rowsOnDisk(system.stateDir).clients[0]);
}

/** How many alarms workerd has in its list. It makes the file, and then the list in it, when it first needs one. */
function alarms({ stateDir }: TestSystem): unknown {
  const file = join(stateDir, "objects/adaptive-h3-PathStore/metadata.sqlite");
  if (!existsSync(file)) return 0;
  const list = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
  try {
    const isThere = list.prepare("SELECT 1 FROM sqlite_master WHERE name = '_cf_ALARM'").get() !== undefined;
    return isThere ? list.prepare("SELECT count(*) AS alarms FROM _cf_ALARM").get()?.["alarms"] : 0;
  } finally {
    list.close();
  }
}

it("databases without a header are set aside: workerd starts, decides, and learns anew", async () => {
  const lines: string[] = [];
  const system = await startTestSystem({
    onErrorLine: (line) => void lines.push(line),
    onRestart: (sentence) => void lines.push(sentence),
  });
  await system.putPolicy(fixed("fixed-h3"));
  await visit(system);
  await system.workerd.crash(() => {
    for (const pattern of ["adaptive-h3-PathStore/*.sqlite", "adaptive-h3-PolicyStore/metadata.sqlite"])
      ruin(system, pattern);
  });
  const pid = system.workerd.pid();
  const said = (): string[] => lines.filter((line) => line.includes("cannot be opened"));
  expect(said()).toHaveLength(3);
  for (const line of said())
    expect(line).toMatch(/^The database .* \(file is not a database\)\. It was renamed to \*\.set-aside/);
  const aside = globSync("*/*.sqlite.set-aside", { cwd: join(system.stateDir, "objects") });
  expect(aside).toHaveLength(3);
  for (const file of aside)
    expect(readFileSync(join(system.stateDir, "objects", file), "latin1").slice(0, 16)).toBe("A".repeat(16));

  // A page on a busy machine may come before the policy does, and is then not decided.
  await until("a page that is decided", async () => {
    const [page] = await probe(system, "h2", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);
    return page?.headers["Alt-Svc"]?.[0]?.includes("h3=") || undefined;
  });
  expect(await health(system)).toMatchObject({ status: "degraded", problems: [PROBLEM], store: "ok", revision: 1 });
  await visit(system);
  await until("an alarm", () => (alarms(system) === 1 ? true : undefined));
  expect(system.workerd.pid()).toBe(pid);

  // It is said once. The health says it until somebody takes note of it.
  await system.workerd.crash();
  expect(said()).toHaveLength(3);
  expect(await health(system)).toMatchObject({ status: "degraded", problems: [PROBLEM] });
  rmSync(join(system.stateDir, "marker/set-aside"));
  await until("a health that is well", async () =>
    ((await health(system)) as { status: string }).status === "ok" ? true : undefined,
  );
});

it("an object whose alarm was lost with workerd's list of alarms sets it again", async () => {
  const system = await startTestSystem();
  await system.putPolicy(fixed("fixed-h3"));
  await visit(system);
  await system.workerd.crash(() => {
    ruin(system, "adaptive-h3-PathStore/metadata.sqlite");
    // The object believes that its alarm rings at this time, two hours ago. workerd counts in nanoseconds.
    changeOnDisk(system.stateDir, "UPDATE _cf_METADATA SET value = value - 7200000000000");
  });
  expect(alarms(system)).toBe(0);
  await visit(system);
  await until("an alarm", () => (alarms(system) === 1 ? true : undefined));
});
