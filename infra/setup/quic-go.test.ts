import { expect, it } from "vitest";
import { edited } from "./quic-go.ts";

const FILE = "internal/congestion/cubic_sender.go";
/** The lines of quic-go that change, as they are there. */
const SENDER = `
	"github.com/quic-go/quic-go/internal/protocol"
	hybridSlowStart HybridSlowStart
	c.largestSentPacketNumber = packetNumber
	c.hybridSlowStart.OnPacketSent(packetNumber)
	c.hybridSlowStart.OnPacketAcked(ackedPacketNumber)
	c.hybridSlowStart.ShouldExitSlowStart(c.rttStats.LatestRTT(), c.rttStats.MinRTT(), c.GetCongestionWindow()/c.maxDatagramSize)
		c.congestionWindow += c.maxDatagramSize
		c.maybeQlogStateChange(qlog.CongestionStateSlowStart)
			c.congestionWindow += c.maxDatagramSize
			c.numAckedPackets = 0
`;

it("has quic-go's sender call our slow start, and leaves congestion avoidance alone", () => {
  expect(edited(FILE, SENDER)).toBe(`
	"github.com/quic-go/quic-go/internal/protocol"
	"github.com/quic-go/quic-go/internal/slowstart"
	hybridSlowStart slowstart.HyStart
	if c.connStats.Restart.CompareAndSwap(true, false) {
		window := c.congestionWindow
		c.OnConnectionMigration()
		c.congestionWindow = max(c.congestionWindow, window)
		c.connStats.CongestionWindow.Store(uint64(c.congestionWindow))
	}
	c.largestSentPacketNumber = packetNumber
	c.hybridSlowStart.OnPacketSent(int64(packetNumber))
	c.hybridSlowStart.OnPacketAcked(int64(ackedPacketNumber))
	c.hybridSlowStart.ShouldExitSlowStart(c.rttStats.LatestRTT())
		c.congestionWindow += protocol.ByteCount(c.hybridSlowStart.Growth(int64(c.maxDatagramSize)))
		c.maybeQlogStateChange(qlog.CongestionStateSlowStart)
			c.congestionWindow += c.maxDatagramSize
			c.numAckedPackets = 0
`);
});

it("says so where quic-go has changed", () => {
  const message =
    /quic-go's internal\/congestion\/cubic_sender\.go has no single "hybridSlowStart HybridSlowStart\\n": look at infra\/setup\/quic-go\.ts/;
  expect(() => edited(FILE, SENDER.replace("HybridSlowStart\n", "SlowStart\n"))).toThrow(message);
  expect(() => edited(FILE, `${SENDER}hybridSlowStart HybridSlowStart\n`)).toThrow(message);
});

it("changes no other file", () => {
  expect(edited("internal/congestion/pacer.go", SENDER)).toBe(SENDER);
});
