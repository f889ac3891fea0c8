import { describe, expect, it } from "vitest";
import type { Call } from "./command.ts";
import { confirm } from "./confirm.ts";
import { testIo, type TestIo } from "./testing.ts";

function callOf(io: TestIo, options: Call["options"] = {}): Call & { readonly printed: string[] } {
  const printed: string[] = [];
  const api = (): never => {
    throw new Error("asks no server");
  };
  return { words: [], options, io, printed, api, columns: 80, print: (text) => void printed.push(text) };
}

function terminal(): TestIo {
  const io = testIo();
  io.stdin.isTTY = true;
  io.stderr.isTTY = true;
  return io;
}

describe("confirm", () => {
  it.each(["y\r", "Yes\r", " yes \r"])("%j is a yes", async (typed) => {
    const io = terminal();
    io.stdin.write(typed);
    await expect(confirm(callOf(io), "", "For everyone?")).resolves.toBeUndefined();
  });

  it("goes on after a yes, having shown what it is about", async () => {
    const io = terminal();
    const call = callOf(io);
    io.stdin.write("yes\r");
    await confirm(call, "before and after", "For everyone?");
    expect(call.printed).toEqual(["before and after\n"]);
    expect(String(io.stderr.read())).toContain("For everyone? Type yes: ");
  });

  it.each([
    ["anything else", "yet\r"],
    ["no", "n\r"],
    ["nothing", "\r"],
  ])("stops after %s", async (_, typed) => {
    const io = terminal();
    io.stdin.write(typed);
    await expect(confirm(callOf(io), "", "For everyone?")).rejects.toMatchObject({
      exitCode: 2,
      message: "Nothing was changed.",
    });
  });

  it.each(["ye\u0003", "\u0004"])("Ctrl-C and Ctrl-D end the program", async (typed) => {
    const io = terminal();
    io.stdin.write(typed);
    await expect(confirm(callOf(io), "", "For everyone?")).rejects.toMatchObject({
      exitCode: 130,
      message: "Nothing was changed.",
    });
  });

  it("asks nothing with --yes", async () => {
    const call = callOf(testIo(), { yes: true });
    await confirm(call, "before and after", "For everyone?");
    expect(call.printed).toEqual(["before and after\n"]);
  });

  it("refuses where there is nobody to ask", async () => {
    await expect(confirm(callOf(testIo()), "", "For everyone?")).rejects.toMatchObject({
      exitCode: 2,
      message: "For everyone? This is no terminal to ask on: with --yes it is done without asking.",
    });
  });

  it("with --json what it is about stands by the question, not in the output", async () => {
    const io = terminal();
    const call = callOf(io, { json: true });
    io.stdin.write("yes\r");
    await confirm(call, "before and after", "For everyone?");
    expect(call.printed).toEqual([]);
    expect(String(io.stderr.read())).toContain("before and after");
  });
});
