import { describe, expect, it } from "vitest";
import { commandHelp, COMMANDS, overview, run } from "./run.ts";
import { testIo, type TestIo } from "./testing.ts";
import { wrapped } from "./table.ts";

async function does(line: string, io: TestIo = testIo()): Promise<{ code: number; out: string; err: string }> {
  const code = await run(line === "" ? [] : line.split(" "), io);
  return { code, out: String(io.stdout.read() ?? ""), err: String(io.stderr.read() ?? "") };
}

describe("help", () => {
  it.each([60, 80, 120])("fits a terminal of %i columns, in plain ASCII", (columns) => {
    const lines = wrapped([overview(), ...COMMANDS.map(commandHelp)].join("\n"), columns).split("\n");
    // A word that is longer than a line stays whole.
    expect(lines.filter((line) => line.length > columns && / \S/.test(line.trim()))).toEqual([]);
    expect(lines.filter((line) => !/^[ -~]*$/.test(line))).toEqual([]);
  });

  it.each(["help", "--help", "-h"])("%s is the overview, with every command and exit code", async (line) => {
    const { code, out } = await does(line);
    expect(code).toBe(0);
    for (const { name } of COMMANDS) expect(out).toContain(`\n  ${name} `);
    for (const exitCode of [0, 1, 2, 3, 4, 5, 6]) expect(out).toMatch(new RegExp(`^  ${exitCode}  `, "m"));
  });

  it.each(["help activate", "activate --help", "activate 3 -h"])("%s", async (line) => {
    const { code, out } = await does(line);
    expect(code).toBe(0);
    expect(out).toMatch(/^npm run --silent policy -- activate VERSION \[--share 5%\]/);
  });

  it("every option that is told of is taken, and the other way round", () => {
    for (const command of COMMANDS) {
      const told = new Set([...commandHelp(command).matchAll(/(?<= |^|\[)--([a-z-]+)/g)].map(([, name]) => name));
      told.delete("silent");
      told.delete("");
      for (const option of command.options ?? []) expect(told, command.name).toContain(option);
      for (const name of told) expect([...(command.options ?? []), "json"], command.name).toContain(name);
    }
  });

  it.each([
    ["", "Which command?"],
    ["lst", 'There is no command "lst": list? `help` lists them.'],
    ["help lst", 'There is no command "lst": list? `help` lists them.'],
    ["show", "It is: show VERSION|active"],
    [
      "list --share 5%",
      "`list` takes no --share; it takes --help, --json, --url, --token-file, --ca, --limit, --before.",
    ],
    ["list", "Which server? `npm start` has left no token in"],
  ])("%j means nothing", async (line, sentence) => {
    const { code, out, err } = await does(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err.startsWith(sentence)).toBe(true);
  });

  it("a program is told so in JSON", async () => {
    expect(JSON.parse((await does("--json lst")).out)).toEqual({
      error: { status: null, title: 'There is no command "lst": list? `help` lists them.', detail: null, faults: [] },
    });
    expect(JSON.parse((await does("help --json")).out)).toEqual({ help: overview() });
  });
});
