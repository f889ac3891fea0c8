import { expect, it } from "vitest";
import { codeLines } from "./code-lines.ts";

it("counts neither blank lines nor comments", () => {
  const source = `// why\n\n/** What it is. */\nconst a = 1; // here\n/*\n * more\n */\n  const b = "/*";\n`;
  expect(codeLines(source, "slashes")).toBe(2);
});

it("knows Python's comments and docstrings", () => {
  expect(
    codeLines(
      `"""What it is.\n\nMore.\n"""\n# why\nimport os\n\n\ndef f():\n    """One line."""\n    return 1\n`,
      "hash",
    ),
  ).toBe(3);
});
