import { describe, expect, it } from "vitest";
import { fill } from "./template.ts";

describe("a template", () => {
  it("has text, groups and lists filled in, and nothing else changed", () => {
    const text = fill(
      "# <%= it.title %>\n\n<% for (const { label, at } of it.rows) { -%>\n- <%= label %>: <%= at.ms %>\n<% } -%>\n\nEnd | <b>\n",
      {
        title: "a & b",
        rows: [
          { label: "x", at: { ms: "1.0" } },
          { label: "y", at: { ms: "2.0" } },
        ],
      },
      "report.md",
    );
    expect(text).toBe("# a & b\n\n- x: 1.0\n- y: 2.0\n\nEnd | <b>\n");
  });

  it("may call the functions that it is given, and need not call all", () => {
    const values = { at: { double: (of: number) => 2 * of, half: (of: number) => of / 2 } };
    expect(fill("<%= it.at.double(21) %>", values, "report.md")).toBe("42");
  });

  it.each([
    ["<%= it.tittle %>", { title: "x" }, "report.md names tittle, which it is not given"],
    ["<% for (const one of it.rows) { %><%= one.b %><% } %>", { rows: [{ a: "x" }] }, "report.md names rows.b"],
    ["<%= it.at.sec %>", { at: { ms: 1 } }, "report.md names at.sec"],
  ])("fails where it names what it is not given: %s", (template, values, message) => {
    expect(() => fill(template, values, "report.md")).toThrow(message);
  });

  it.each([
    ["text", { title: "x" }, "report.md does not use title, which it is given"],
    ["<% for (const one of it.rows) { %><%= one.a %><% } %>", { rows: [{ a: "x", b: "y" }] }, "does not use rows.b"],
  ])("fails where it is given what it does not name: %s", (template, values, message) => {
    expect(() => fill(template, values, "report.md")).toThrow(message);
  });
});
