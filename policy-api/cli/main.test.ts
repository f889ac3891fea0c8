import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { selfSigned } from "./testing-certificate.ts";
import { type Ran, startApi, testFolder, TOKENS } from "./testing.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

/** The program, as a process of its own in a folder, with nothing in its environment but this. */
async function program(folder: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: code as number, out, err };
}

describe("the program", () => {
  it("finds the server of npm start, its token and its certificate, over TLS", async () => {
    const made = selfSigned();
    const api = await startApi(made);
    const folder = testFolder();
    mkdirSync(join(folder, ".adaptive-h3"));
    writeFileSync(join(folder, ".adaptive-h3/token"), TOKENS.read, { mode: 0o600 });
    writeFileSync(join(folder, ".adaptive-h3/dev-cert.pem"), made.cert);
    const { code, out, err } = await program(folder, ["status"], { PORT: new URL(api.url).port });
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain(`${api.url}: ok`);
  });

  it("refuses a token on the command line", async () => {
    const { code, out, err } = await program(testFolder(), ["status", "--token", "s3cret"]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("ps shows it");
    expect(err).not.toContain("s3cret");
  });

  it("reads files from where npm was called, and tells faults without a stack", async () => {
    const called = testFolder();
    writeFileSync(join(called, "a.json"), '{"schema":3}');
    const npm = { npm_lifecycle_event: "policy", INIT_CWD: called };
    expect(await program(testFolder(), ["validate", "a.json"], npm)).toEqual({
      code: 1,
      out: "",
      err: "a.json is no valid policy.\na.json: /mode is missing\n",
    });
  });

  it("refuses a line of which npm took options for itself", async () => {
    const npm = { npm_lifecycle_event: "policy", npm_config_share: "5%", npm_config_yes: "true" };
    const { code, err } = await program(testFolder(), ["activate", "1"], npm);
    expect(code).toBe(2);
    expect(err).toContain("npm took --share for itself");
  });

  it("asks nobody where there is no terminal", async () => {
    const api = await startApi();
    const env = { H3_URL: api.url, H3_TOKEN: TOKENS.write };
    expect(await program(testFolder(), ["kill"], env)).toMatchObject({ code: 2 });
    expect(api.requests).toEqual([]);
  });

  it("does not mind who stops reading", async () => {
    const child = spawn(process.execPath, [MAIN, "help"], { env: {}, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.destroy();
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    expect([code, err]).toEqual([0, ""]);
  });
});
