import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";

it("the worker that passes on has the compatibility date of ours", () => {
  const dateIn = (file: string) => /compatibilityDate = "(.*)"/.exec(readFileSync(join(ROOT, file), "utf8"))?.[1];
  expect(dateIn("bench/lab/pass-through.capnp")).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(dateIn("bench/lab/pass-through.capnp")).toBe(dateIn("infra/workerd/config.capnp"));
});
