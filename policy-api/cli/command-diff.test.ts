import { beforeEach, describe, expect, it } from "vitest";
import { adaptivePolicy } from "../decision/testing.ts";
import { type Person, person } from "./testing.ts";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("observe.json", { schema: 3, mode: "observe" });
  anna.writes("h3.json", { schema: 3, mode: "fixed-h3" });
  anna.writes("adaptive.json", adaptivePolicy());
});

describe("diff", () => {
  it("of files asks no server, and shows fields and answers", async () => {
    const { code, out } = await anna.does("diff observe.json adaptive.json");
    expect(code).toBe(1);
    expect(out).toContain("observe.json -> adaptive.json: 4 fields of the policy differ.");
    expect(out).toMatch(/^\/mode +"observe" -> "adaptive"$/m);
    expect(out).toMatch(/^\/method +- -> \{ kind, table, mix \}$/m);
    expect(out).toMatch(/^Of 25 answers on \/, \d+ would change \(->\):$/m);
    expect(anna.api.requests).toEqual([]);
  });

  it("says when no answer changes", async () => {
    anna.writes("told.json", { schema: 3, mode: "observe", source: "told" });
    const { out } = await anna.does("diff observe.json told.json --path /shop/");
    expect(out).toContain(": 1 field of the policy differs.");
    expect(out).toContain("Of 25 answers on /shop/, none would change.");
  });

  it("says that rules may say otherwise for a country or an autonomous system, and shows their answers", async () => {
    anna.writes("not-jp.json", {
      schema: 3,
      mode: "fixed-h3",
      rules: [{ country: ["JP"], asn: [64_500], mode: "fixed-h2" }],
    });
    const { out } = await anna.does("diff h3.json not-jp.json --country JP");
    expect(out).toContain("none would change.");
    expect(out).toContain("(1 rule may say otherwise elsewhere).");
    const there = (await anna.does("diff h3.json not-jp.json --country jp --asn 64500")).out;
    expect(there).toContain("Of 25 answers on /, 25 would change (->):");
  });

  it("the same policy, however it is written, ends with 0", async () => {
    anna.writes("same.json", { mode: "observe", ma: { maxS: 3_600, minS: 60 }, schema: 3 });
    expect(await anna.does("diff observe.json same.json")).toEqual({
      code: 0,
      out: "observe.json and same.json are the same policy.\n",
      err: "",
    });
  });

  it.each([
    ["diff h3.json", 1, "active, version 0 -> h3.json"],
    ["diff observe.json", 0, "active, version 0 and observe.json are the same policy."],
    ["diff", 1, "active, version 0 -> version 2"],
    ["diff 1 2", 1, "version 1 -> version 2"],
    ["diff 2 active", 1, "version 2 -> active, version 0"],
    ["diff 1", 1, "active, version 0 -> version 1"],
    ["diff 2 ./h3.json", 1, "version 2 -> ./h3.json"],
  ])("%s", async (line, code, names) => {
    await anna.does("push h3.json");
    await anna.does("push adaptive.json");
    const ran = await anna.does(line);
    expect([ran.code, ran.err]).toEqual([code, ""]);
    expect(ran.out).toContain(names);
  });

  // 1 would say that the two differ.
  it.each(["diff 7 h3.json", "diff h3.json bad.json", "diff none.json"])("trouble ends above 1: %s", async (line) => {
    anna.writes("bad.json", "{");
    const { code, out, err } = await anna.does(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err).not.toBe("");
  });

  it("for a program: all changes whole, and every answer", async () => {
    const { code, out } = await anna.does("diff observe.json h3.json --json");
    expect(code).toBe(1);
    const json = JSON.parse(out) as { changes: unknown; decisions: unknown[] };
    expect(json).toMatchObject({ before: "observe.json", after: "h3.json", same: false, path: "/" });
    expect(json.changes).toEqual([{ pointer: "/mode", kind: "changed", before: "observe", after: "fixed-h3" }]);
    expect(json.decisions).toHaveLength(25);
  });
});

describe("validate", () => {
  it("says what a policy is", async () => {
    const { code, out } = await anna.does("validate adaptive.json");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^adaptive\.json is a valid policy of \d+ bytes: adaptive\.\nOn \/ it offers HTTP\/3 to no new client, and in 10 of 20 cases/,
    );
    expect(JSON.parse((await anna.does("validate adaptive.json --json")).out)).toMatchObject({
      valid: true,
      mode: "adaptive",
      method: "gains",
    });
  });

  it.each([
    ["{", /^a\.json is no valid policy\.\na\.json: is no JSON: .*\n$/],
    ["[]", /^a\.json is no valid policy\.\na\.json: must be an object\n$/],
    ['{"schema":2,"mode":"observe"}', /\na\.json: \/schema must be one of 3\n$/],
    ['{"schema":3,"mode":"adaptive"}', /\na\.json: \/method must be there where a mode is adaptive\n$/],
  ])("tells what is wrong with %s", async (content, err) => {
    anna.writes("a.json", content);
    const ran = await anna.does("validate a.json");
    expect(ran).toMatchObject({ code: 1, out: "" });
    expect(ran.err).toMatch(err);
  });

  it("for a program", async () => {
    anna.writes("a.json", { schema: 3 });
    expect(JSON.parse((await anna.does("validate a.json --json")).out)).toEqual({
      error: {
        status: null,
        title: "a.json is no valid policy.",
        detail: null,
        faults: [{ pointer: "/mode", message: "is missing" }],
      },
    });
  });

  it("a file that is not there is a command line that means nothing", async () => {
    expect(await anna.does("validate none.json")).toMatchObject({ code: 2, out: "" });
  });
});
