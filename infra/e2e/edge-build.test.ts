import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { EDGE_PROGRAM } from "../setup/build.ts";

it("the edge that is built ends QUIC's slow start by infra/edge/internal/slowstart", () => {
  const program = readFileSync(EDGE_PROGRAM, "latin1");
  expect(program).toContain("github.com/quic-go/quic-go/internal/slowstart.(*HyStart).ShouldExitSlowStart");
});
