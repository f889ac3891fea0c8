// Only here: `npm start` as a process: its words, its children, its ends.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { freePort } from "../workerd/listening.ts";
import { probe, testFolder, until } from "./harness.ts";
import { interrupt, NPM, start } from "./npm-start.ts";

/** The processes that a process started, and that these started, according to the kernel. */
function descendantsOf(pid: number): number[] {
  try {
    const list = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    const children = list.trim().split(" ").filter(Boolean).map(Number);
    return [...children, ...children.flatMap(descendantsOf)];
  } catch {
    return []; // ended meanwhile
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

describe("npm start", () => {
  it("serves, prints what to try and each decision, and ends all its processes on Ctrl-C", async () => {
    const stateDir = testFolder();
    const port = await freePort();
    const temporary = testFolder();
    const started = start({ PORT: String(port), STATE_DIR: stateDir, TMPDIR: temporary }, NPM);
    await until("the welcome", () => (started.output().includes("Ctrl-C ends everything.") ? true : undefined), 60_000);
    const site = `https://localhost:${port}/`;
    const [load] = await probe({ stateDir }, "h3", [site], ["-header", "Accept: text/html"]);
    expect(load).toMatchObject({ status: 200 });
    await until("the decision", () => (/HTTP\/3 .*h[23]-faster/.test(started.output()) ? true : undefined));
    expect(started.output()).toContain(`Open     ${site}`);
    const token = readFileSync(join(stateDir, "token"), "utf8");
    expect(started.output()).not.toContain(token);
    // As a person copies it into another terminal, which has none of this start's variables.
    const [, command = ""] = /^ +(\S.*npm run policy -- status) /m.exec(started.output()) ?? [];
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd: ROOT });
    expect(stdout).toContain(`https://localhost:${port}`);

    const children = descendantsOf(started.child.pid ?? 0);
    expect(children.length).toBeGreaterThanOrEqual(3);
    interrupt(started);
    expect(await started.ended(), started.output()).toBe(0);
    expect(readdirSync(stateDir)).not.toContain("lock");
    expect(readdirSync(temporary).filter((name) => name.startsWith("h3-"))).toEqual([]);
    for (const pid of children) expect(existsSync(`/proc/${pid}`), String(pid)).toBe(false);

    // A second start uses the state of the first.
    const again = start({ PORT: String(port), STATE_DIR: stateDir });
    await until("the welcome", () => (again.output().includes("Ctrl-C ends everything.") ? true : undefined), 60_000);
    expect(readFileSync(join(stateDir, "token"), "utf8")).toBe(token);
  });

  it("Ctrl-C during the start ends all its processes too", async () => {
    const started = start({ PORT: String(await freePort()), STATE_DIR: testFolder() }, NPM);
    const children = await until("workerd", () => {
      const pids = descendantsOf(started.child.pid ?? 0).filter((pid) => commandOf(pid).includes("\0serve\0"));
      return pids.length > 0 ? pids : undefined;
    });
    interrupt(started);
    expect(await started.ended(), started.output()).toBe(0);
    for (const pid of children) expect(existsSync(`/proc/${pid}`), String(pid)).toBe(false);
  });

  it("a second start on the same folder names the process that uses it", async () => {
    const stateDir = testFolder();
    const first = start({ PORT: String(await freePort()), STATE_DIR: stateDir });
    await until("the lock", () => (existsSync(join(stateDir, "lock")) ? true : undefined));
    const second = start({ PORT: String(await freePort()), STATE_DIR: stateDir });
    expect(await second.ended()).toBe(1);
    expect(second.output().trim()).toBe(
      `The folder ${stateDir} is in use by process ${first.child.pid}: stop it, or set STATE_DIR to another folder.`,
    );
  });

  it("a port in use gives one clear sentence, and nothing is left running", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    onTestFinished(() => void holder.close());
    const { port } = holder.address() as { port: number };
    const started = start({ PORT: String(port), STATE_DIR: testFolder() });
    expect(await started.ended()).toBe(1);
    const lines = started.output().trim().split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toBe(`Port ${port} is in use: stop the program that uses it, or set PORT to another port.`);
  });

  it.each([
    ["PORT", "http", "The variable PORT must be a whole number from 1 to 65535."],
    ["ORIGIN", "localhost", "The variable ORIGIN must be an http or https URL without a path."],
    ["TELL_DECISIONS", "yes", "The variable TELL_DECISIONS must be on or off."],
    ["BUDGET_MS", "soon", "The variable BUDGET_MS must be a whole number from 0 to 1000."],
    ["DEMO_VISITORS", "yes", "The variable DEMO_VISITORS must be on or off."],
    ["OBJECTS_PER_REGION", "0", "The variable OBJECTS_PER_REGION must be a whole number from 1 to 10000."],
  ])("an invalid %s stops the start, and the message names it", async (name, value, sentence) => {
    const started = start({ STATE_DIR: testFolder(), [name]: value });
    expect(await started.ended()).toBe(1);
    expect(started.output().trim()).toBe(sentence);
  });

  it("visitors who are not there do not come to a site of one's own", async () => {
    const started = start({ STATE_DIR: testFolder(), DEMO_VISITORS: "on", ORIGIN: "http://127.0.0.1:3000" });
    expect(await started.ended()).toBe(1);
    expect(started.output()).toContain("DEMO_VISITORS is for the demo site alone");
  });

  it("a folder that cannot be written gives one clear sentence", async () => {
    const folder = join(testFolder(), "file");
    // A file in the folder's place fails for root too, who may write to any folder.
    writeFileSync(folder, "");
    const started = start({ STATE_DIR: folder });
    expect(await started.ended()).toBe(1);
    expect(started.output().trim()).toMatch(
      new RegExp(`^Cannot write the folder ${folder} \\(.*\\): set STATE_DIR to a folder that you can write\\.$`),
    );
  });

  it("a missing or old Go gives one clear sentence", async () => {
    const path = (process.env["PATH"] ?? "")
      .split(delimiter)
      .filter((folder) => !existsSync(join(folder, "go")))
      .join(delimiter);
    const missing = start({ STATE_DIR: testFolder(), PATH: path });
    expect(await missing.ended()).toBe(1);
    expect(missing.output().trim()).toMatch(/^Go 1\.26 or newer is needed .*, and there is no go on the PATH: .*\.$/);

    const fakes = testFolder();
    writeFileSync(join(fakes, "go"), "#!/bin/sh\necho go1.20.3\n");
    chmodSync(join(fakes, "go"), 0o755);
    const old = start({ STATE_DIR: testFolder(), PATH: `${fakes}${delimiter}${path}` });
    expect(await old.ended()).toBe(1);
    expect(old.output().trim()).toMatch(/^Go 1\.26 or newer is needed .* is go1\.20\.3: install a newer one\.$/);
  });
});
