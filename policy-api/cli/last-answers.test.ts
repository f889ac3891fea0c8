import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { keepAnswer, lastAnswer } from "./last-answers.ts";
import { person, testFolder } from "./testing.ts";

const ANSWER = { command: "npm run policy -- cost", atMs: 1, text: "$5" };

it("keeps the last answer of each command, for its owner alone", () => {
  const folder = join(testFolder(), "state");
  expect(lastAnswer(folder, "cost")).toBeNull();
  keepAnswer(folder, "cost", ANSWER);
  keepAnswer(folder, "cost", { ...ANSWER, text: "$6" });
  expect(lastAnswer(folder, "cost")).toEqual({ ...ANSWER, text: "$6" });
  expect(lastAnswer(folder, "doctor")).toBeNull();
  expect(statSync(folder).mode & 0o077).toBe(0);
  expect(statSync(join(folder, "last-cost.json")).mode & 0o077).toBe(0);
});

it.each(["", "{", "null", "[]", '{"command":"a","atMs":1}', '{"command":"a","atMs":"1","text":"b"}'])(
  "says which file it cannot read, and how to mend it: %j",
  (content) => {
    const folder = testFolder();
    writeFileSync(join(folder, "last-doctor.json"), content);
    expect(() => lastAnswer(folder, "doctor")).toThrow(
      `${join(folder, "last-doctor.json")} cannot be read: \`npm run policy -- doctor\` writes it again.`,
    );
  },
);

it("is what a command printed last: no help, no failure, and no other command's", async () => {
  const anna = await person();
  const folder = join(anna.io.projectFolder, ".adaptive-h3");
  for (const line of ["cost --help", "cost --page-views none", "help cost", "token a --scope read"])
    await anna.does(line);
  expect(lastAnswer(folder, "cost")).toBeNull();
  const { out } = await anna.does("cost --page-views 1M", 80);
  expect(lastAnswer(folder, "cost")).toEqual({
    command: "npm run policy -- cost --page-views 1M",
    atMs: anna.io.nowMs(),
    text: out.trimEnd(),
  });
});

it("costs no answer where it cannot be written", async () => {
  const anna = await person();
  writeFileSync(join(anna.io.projectFolder, ".adaptive-h3"), "a file");
  const { code, out, err } = await anna.does("cost");
  expect([code, out]).toEqual([0, expect.stringContaining("price a month")]);
  expect(err).toMatch(/^The dashboard will not show this answer: E/);
});
