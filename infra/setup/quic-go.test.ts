import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { withSlowStart } from "./quic-go.ts";

/** The lines of quic-go that change, as they are there. */
const SENDER = `
	"github.com/quic-go/quic-go/internal/protocol"
	hybridSlowStart HybridSlowStart
	c.hybridSlowStart.OnPacketSent(packetNumber)
	c.hybridSlowStart.OnPacketAcked(ackedPacketNumber)
	c.hybridSlowStart.ShouldExitSlowStart(c.rttStats.LatestRTT(), c.rttStats.MinRTT(), c.GetCongestionWindow()/c.maxDatagramSize)
		c.congestionWindow += c.maxDatagramSize
		c.maybeQlogStateChange(qlog.CongestionStateSlowStart)
			c.congestionWindow += c.maxDatagramSize
			c.numAckedPackets = 0
`;

it("has quic-go's sender call every method of our slow start, and leaves congestion avoidance alone", () => {
  const changed = withSlowStart(SENDER);
  const source = readFileSync(join(ROOT, "infra/edge/internal/slowstart/slowstart.go"), "utf8");
  const methods = [...source.matchAll(/^func \(h \*HyStart\) (\w+)/gm)].map(([, name]) => name);
  expect(methods).toEqual(["OnPacketSent", "ShouldExitSlowStart", "OnPacketAcked", "Growth", "Restart"]);
  // quic-go calls Restart as it does.
  for (const method of methods.filter((name) => name !== "Restart"))
    expect(changed).toContain(`c.hybridSlowStart.${method}(`);
  expect(changed).toContain("c.congestionWindow += c.maxDatagramSize\n\t\t\tc.numAckedPackets = 0");
});

it("says so where quic-go has changed", () => {
  const message =
    /quic-go's internal\/congestion\/cubic_sender\.go has no single "hybridSlowStart HybridSlowStart\\n": look at infra\/setup\/quic-go\.ts/;
  expect(() => withSlowStart(SENDER.replace("HybridSlowStart\n", "SlowStart\n"))).toThrow(message);
  expect(() => withSlowStart(`${SENDER}hybridSlowStart HybridSlowStart\n`)).toThrow(message);
});
