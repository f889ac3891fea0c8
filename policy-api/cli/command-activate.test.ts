import { beforeEach, describe, expect, it } from "vitest";
import { UNREADABLE } from "../decision/policy.ts";
import { type Person, person } from "./testing.ts";

let anna: Person;
beforeEach(async () => {
  anna = await person();
  anna.writes("h3.json", { schema: 3, mode: "fixed-h3" });
  anna.writes("h2.json", { schema: 3, mode: "fixed-h2" });
  await anna.does(["push", "h3.json", "--note", "all of it"]);
  await anna.does("push h2.json");
  anna.api.requests.length = 0;
});
const inForce = (): unknown => {
  const { everyone, stages, killSwitch } = anna.api.current();
  return { everyone, stages, killSwitch };
};

describe("activate", () => {
  it("for a share: shows who gets what, and does not ask", async () => {
    const { code, out, err } = await anna.does(["activate", "1", "--share", "5%", "--note", "few"]);
    expect([code, err]).toEqual([0, ""]);
    expect(out.split("\n")).toEqual([
      "Nobody has activated anything yet.",
      "  everyone: version 0 (initial: observe)",
      "",
      "Version 1: fixed-h3, by writer, 3 min ago: all of it",
      "On / version 1 offers HTTP/3 to everybody; nobody is drawn into arms.",
      "",
      "After this:",
      "  5 %: version 1",
      "  everyone else: version 0 (initial: observe)",
      "",
      "Revision 1 is in force. Obeyed everywhere within 30 s, while the store answers. `rollback` undoes it.",
      "",
    ]);
    expect(anna.api.requests.at(-1)).toMatchObject({
      method: "PUT",
      headers: { "if-match": '"r0"' },
      body: { everyone: 0, stages: [{ version: 1, share: 0.05 }], note: "few" },
    });
  });

  it("for everyone: asks", async () => {
    anna.types("yes\r");
    expect(await anna.does("activate 1")).toMatchObject({ code: 0 });
    expect(inForce()).toEqual({ everyone: 1, stages: [], killSwitch: null });
  });

  it("for everyone, and no is the answer", async () => {
    anna.types("no\r");
    expect(await anna.does("activate 1")).toMatchObject({ code: 2 });
    expect(anna.api.current().revision).toBe(0);
  });

  it.each(["activate 1", "activate 1 --share 100%", "activate 1 --path /"])(
    "%s, and nobody to ask: shows, and refuses",
    async (line) => {
      const { code, out, err } = await anna.does(line);
      expect(code).toBe(2);
      expect(out).toContain("After this:");
      expect(err).toContain("with --yes");
      expect(anna.api.current().revision).toBe(0);
    },
  );

  it("on a path beside a share, and then everyone", async () => {
    await anna.does("activate 1 --share 10%");
    await anna.does("activate 2 --path /shop/");
    expect(inForce()).toEqual({
      everyone: 0,
      stages: [
        { version: 2, share: 1, pathPrefix: "/shop/" },
        { version: 1, share: 0.1 },
      ],
      killSwitch: null,
    });
    await anna.does("activate 1 --share 100% --yes");
    expect(inForce()).toMatchObject({ everyone: 1, stages: [{ pathPrefix: "/shop/" }] });
    await anna.does("activate 1 --yes");
    expect(inForce()).toMatchObject({ everyone: 1, stages: [] });
  });

  it("what is in force already is not put in force again", async () => {
    const { code, out } = await anna.does("activate 0");
    expect(code).toBe(0);
    expect(out).toContain("That is in force already.");
    expect(anna.api.asked().some((asked) => asked.startsWith("PUT"))).toBe(false);
  });

  it("tells that nobody will see it while the kill switch is on", async () => {
    await anna.api.change({ kind: "kill-switch", to: "clear" });
    const { out } = await anna.does("activate 1 --share 5%");
    expect(out).toMatch(/^\*\*\* THE KILL SWITCH IS ON \(clear\): `kill off` ends it\. \*\*\*\n/);
    expect(inForce()).toMatchObject({ killSwitch: "clear" });
  });

  it("a version that is not there", async () => {
    expect(await anna.does("activate 3 --yes")).toMatchObject({
      code: 1,
      err: expect.stringContaining("there is no version 3"),
    });
  });

  it("what somebody else did meanwhile stays, and is told", async () => {
    anna.api.instead = async ({ method }) => {
      if (method === "PUT" && anna.api.current().revision === 0)
        await anna.api.change({ kind: "put", everyone: 2, stages: [] }, "bert");
      return undefined;
    };
    const { code, err } = await anna.does("activate 1 --yes");
    expect(code).toBe(4);
    expect(err).toBe(`bert changed the activation meanwhile: nothing of yours was done.
In force now:
Revision 1 since 2026-11-21T10:00:00Z, by bert, 3 min ago
  everyone: version 2
`);
    expect(inForce()).toMatchObject({ everyone: 2 });
    anna.api.instead = async ({ method }) => {
      if (method === "PUT") await anna.api.change({ kind: "put", everyone: 0, stages: [] }, "bert");
      return undefined;
    };
    expect(JSON.parse((await anna.does("activate 1 --yes --json")).out)).toMatchObject({
      error: { status: 412, inForce: { revision: 2, everyone: 0, killSwitch: null } },
    });
  });

  it("is not sent without the tag of what was read", async () => {
    anna.api.instead = ({ path }) =>
      path.endsWith("/activation") ? { status: 200, body: { ...anna.api.current(), at: "" } } : undefined;
    expect(await anna.does("activate 1 --yes")).toMatchObject({ code: 5 });
  });

  it("for a program", async () => {
    const { out } = await anna.does("activate 1 --share 5% --json");
    expect(JSON.parse(out)).toMatchObject({
      changed: true,
      before: { revision: 0 },
      after: { revision: 1, stages: [{ version: 1, share: 0.05 }] },
    });
  });

  it.each(["activate one", "activate", "activate 1 2", "activate 1 --share 5", "activate 1 --path shop"])(
    "%s is refused before anything is asked",
    async (line) => {
      expect(await anna.does(line)).toMatchObject({ code: 2, out: "" });
      expect(anna.api.requests).toEqual([]);
    },
  );
});

describe("rollback", () => {
  it("shows what it returns to, asks, and returns to it", async () => {
    await anna.does("activate 1 --yes");
    await anna.does(["activate", "2", "--yes", "--note", "calm"]);
    anna.types("yes\r");
    const { code, out } = await anna.does("rollback --note oops");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^Revision 2 since .*, by writer, 3 min ago: calm\n {2}everyone: version 2\n\nBack to:\nRevision 1 .*\n {2}everyone: version 1$/m,
    );
    expect(anna.api.requests.at(-1)).toMatchObject({ headers: { "if-match": '"r2"' }, body: { note: "oops" } });
    expect(inForce()).toMatchObject({ everyone: 1 });
  });

  it.each([
    ["to what observes", ["activate 1 --yes"], "rollback --yes", "3,600"],
    ["to fewer clients, where the others are observed", ["activate 1 --share 25%"], "activate 1 --share 5%", "3,600"],
    ["by the longest life of what ends", ["activate 1 --yes", "activate 3 --path /a/"], "activate 0 --yes", "7,200"],
    ["but not to more clients", ["activate 1 --share 5%"], "activate 1 --share 25%", undefined],
    ["nor to what takes offers back", ["activate 1 --yes"], "activate 2 --yes", undefined],
    ["nor under the kill switch", ["activate 1 --yes", "kill --yes"], "activate 0 --yes", undefined],
    ["nor where nothing was offered", ["activate 2 --yes"], "rollback --yes", undefined],
  ])("says how long offers live on, %s", async (_, earlier, line, livesS) => {
    anna.writes("long.json", { schema: 3, mode: "fixed-h3", ma: { minS: 60, maxS: 7_200 } });
    for (const done of ["push long.json", ...earlier]) await anna.does(done);
    const { code, out } = await anna.does(line);
    const lives = /^Offers made until now live for up to ([\d,]+) s: .* `kill clear` does\.$/m.exec(out)?.[1];
    expect([code, lives]).toEqual([0, livesS]);
  });

  it("shows that it turns the kill switch off, where that was the last change", async () => {
    await anna.api.change({ kind: "kill-switch", to: "fixed-h2" });
    const { code, out } = await anna.does("rollback --yes");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^\*\*\* THE KILL SWITCH IS ON \(fixed-h2\)[^]*^Back to:\nNobody has activated anything yet\.$/m,
    );
  });

  it.each([["rollback"], ["rollback --yes"]])(
    "%s after `kill off`: does not switch the kill switch on again",
    async (line) => {
      await anna.does("kill --yes");
      await anna.does("kill off --yes");
      expect(await anna.does(line)).toEqual({
        code: 2,
        out: "",
        err: "This would switch the kill switch on again. `kill fixed-h2` does that.\n",
      });
      expect(inForce()).toMatchObject({ killSwitch: null });
    },
  );

  it("has nothing to return to at the beginning", async () => {
    expect(await anna.does("rollback --yes")).toEqual({ code: 1, out: "", err: "There is nothing to go back to.\n" });
  });

  it("refuses without a terminal, and undoes nobody else's change unseen", async () => {
    await anna.api.change({ kind: "put", everyone: 1, stages: [] });
    expect(await anna.does("rollback")).toMatchObject({ code: 2 });
    anna.api.instead = async ({ method }) => {
      if (method === "POST") await anna.api.change({ kind: "put", everyone: 2, stages: [] }, "bert");
      return undefined;
    };
    expect(await anna.does("rollback --yes")).toMatchObject({ code: 4 });
    expect(inForce()).toMatchObject({ everyone: 2 });
  });
});

describe("kill", () => {
  it("takes HTTP/3 back from everybody, whatever was there", async () => {
    const { code, out } = await anna.does("kill --yes --note incident");
    expect(code).toBe(0);
    expect(out).toContain("*** THE KILL SWITCH IS ON (fixed-h2)");
    expect(anna.api.asked()).toEqual(["PUT /activation/kill-switch"]);
    expect(anna.api.requests[0]).toMatchObject({
      headers: { "if-match": "*" },
      body: { kind: "fixed-h2", note: "incident" },
    });
    await anna.does("kill clear --yes");
    expect(inForce()).toMatchObject({ killSwitch: "clear" });
  });

  it("off: the policy counts again", async () => {
    await anna.api.change({ kind: "kill-switch", to: "fixed-h2" });
    expect(await anna.does("kill off --yes")).toMatchObject({ code: 0 });
    expect(anna.api.requests.at(-1)).toMatchObject({ method: "DELETE", headers: { "if-match": '"r1"' } });
    expect(inForce()).toMatchObject({ killSwitch: null });
    expect((await anna.does("kill off --yes")).out).toContain("The kill switch is off already.");
  });

  it("where the store cannot take it: says so, and turns it off again", async () => {
    anna.api.ports.store.gone = true;
    const killed = await anna.does("kill clear --yes");
    expect(killed.code).toBe(0);
    expect(killed.out).toMatch(/^\*\*\* THE KILL SWITCH IS ON \(clear\)[^]*^NOT STORED: the store could not take it/m);
    const { code, out } = await anna.does("status");
    expect(code).toBe(5);
    expect(out).toContain("in force in memory only");
    expect(out).toContain("*** THE KILL SWITCH IS ON (clear)");
    const json = JSON.parse((await anna.does("kill fixed-h2 --yes --json")).out) as unknown;
    expect(json).toMatchObject({ changed: true, stored: false, killSwitch: "fixed-h2" });

    const off = await anna.does("kill off --yes");
    expect([off.code, anna.api.ports.killed]).toEqual([0, undefined]);
    expect(off.out).toMatch(/^The kill switch in memory is off\.[^]*^NOT STORED: /m);
    // The store is back, and has nothing to turn off.
    await anna.does("kill --yes");
    anna.api.ports.store.gone = false;
    expect(await anna.does("kill off --yes")).toMatchObject({ code: 0 });
    expect([inForce(), anna.api.ports.killed]).toMatchObject([{ killSwitch: null }, undefined]);
  });

  it.each([["kill"], ["kill clear"]])("%s, and nobody to ask: refuses", async (line) => {
    expect(await anna.does(line)).toMatchObject({ code: 2 });
    expect(anna.api.requests).toEqual([]);
  });

  it("another word is none", async () => {
    expect(await anna.does("kill everything")).toMatchObject({ code: 2, out: "" });
    expect(await anna.does("kill off --note why")).toMatchObject({ code: 2, out: "" });
  });
});

describe("a version that cannot be read", () => {
  beforeEach(async () => {
    await anna.does("activate 1 --yes");
    await anna.does("activate 2 --yes");
    anna.api.ports.store.unreadableVersions.add(1);
  });

  it.each([
    ["activate 1 --share 5%", `  /stages/0/version: version 1 ${UNREADABLE}\n`],
    ["rollback --yes", `The server refuses this (409).\nversion 1 ${UNREADABLE}\n`],
  ])("%s: refused", async (line, why) => {
    const { code, err } = await anna.does(line);
    expect([code, err]).toEqual([1, expect.stringContaining(why)]);
    expect(inForce()).toMatchObject({ everyone: 2, stages: [] });
  });

  it("in force: status says so", async () => {
    anna.api.ports.store.unreadableVersions.add(2);
    const { code, out } = await anna.does("status");
    expect(code).toBe(5);
    expect(out).toContain(`: degraded\n  version 2 is in force and offers nothing, as it ${UNREADABLE}\n`);
  });
});
