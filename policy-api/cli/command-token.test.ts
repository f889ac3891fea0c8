import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { run } from "./run.ts";
import { testIo, type TestIo } from "./testing.ts";

let io: TestIo;
beforeEach(() => {
  io = testIo();
});
const make = async (line: string): Promise<{ code: number; out: string; err: string }> => {
  const code = await run(["token", ...line.split(" ")], io);
  return { code, out: String(io.stdout.read() ?? ""), err: String(io.stderr.read() ?? "") };
};
const secret = (): string => readFileSync(join(io.folder, "key"), "utf8").trim();

describe("token", () => {
  it("writes the secret where its owner alone reads it, and prints what the server has to know", async () => {
    const { code, out, err } = await make("deploy --scope write --out key");
    expect(code).toBe(0);
    expect(secret()).toMatch(/^[\w-]{43}$/);
    expect(out).toBe(`deploy:write:${createHash("sha256").update(secret()).digest("hex")}\n`);
    expect(out + err).not.toContain(secret());
    expect(statSync(join(io.folder, "key")).mode & 0o777).toBe(0o600);
  });

  it("writes over nothing", async () => {
    expect(JSON.parse((await make("deploy --scope read --out key --json")).out)).toMatchObject({
      name: "deploy",
      scope: "read",
      file: join(io.folder, "key"),
    });
    const before = secret();
    expect(await make("deploy --scope read --out key")).toMatchObject({ code: 2, out: "" });
    expect(secret()).toBe(before);
  });

  it.each([
    "Deploy --scope read --out key",
    "-x --scope read --out key",
    `${"x".repeat(41)} --scope read --out key`,
    "deploy --scope admin --out key",
    "deploy --out key",
    "deploy --scope read",
    "deploy --scope read --out no/such/folder/key",
  ])("%s is refused, and leaves nothing", async (line) => {
    const { code, out, err } = await make(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err.trim().split("\n")).toHaveLength(1);
    expect(readdirSync(io.folder)).toEqual([]);
  });
});
