import { expect, it } from "vitest";
import { meaningOfTcp } from "./congestion.ts";

it.each(["cubic", "reno"])("with %s pages could be faster", (name) => {
  expect(meaningOfTcp(name)).toBe(
    `your TCP is ${name}: on lossy and distant paths pages could take half as long; see docs/deploy-server.md`,
  );
});

it.each(["bbr", "dctcp"])("with %s nothing is to be done", (name) => {
  expect(meaningOfTcp(name)).toBe("nothing is to be done");
});
