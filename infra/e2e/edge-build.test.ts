import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { buildStockEdge, EDGE_PROGRAM, STOCK_EDGE_PROGRAM } from "../setup/build.ts";

const SLOW_START = "github.com/quic-go/quic-go/internal/slowstart.(*HyStart).ShouldExitSlowStart";

it("the edge that is built ends QUIC's slow start by infra/edge/internal/slowstart, and the one for comparison does not", async () => {
  await buildStockEdge();
  const [edge, stock] = [EDGE_PROGRAM, STOCK_EDGE_PROGRAM].map((program) => readFileSync(program, "latin1"));
  expect(edge).toContain(SLOW_START);
  expect(edge).toContain("github.com/quic-go/quic-go.(*Conn).Restart");
  expect(stock).not.toContain(SLOW_START);
});
