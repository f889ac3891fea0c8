import { describe, expect, it } from "vitest";
import { counts, crossRow } from "./row.ts";
import { nextRound } from "./schedule.ts";
import { NETWORK_NAMES, settingsOf } from "./settings.ts";

const load = nextRound(settingsOf({ quick: true, networks: NETWORK_NAMES }), [], 0, 1).find(
  ({ id }) => id === "near-h3-ours-0",
);
if (load === undefined) throw new Error("no such load");
const line = { outcome: "ok", error: "", startedMs: 7, loadMs: 470, bytes: 1_000_000 } as const;
const counted = { up: 400, down: 600, late: 10, droppedLoss: 0, droppedQueue: 0 };

describe("crossRow", () => {
  it("keeps what both sides saw", () => {
    const row = crossRow(load, { ...line, documentProtocol: "h3" }, 0.85, counted);
    expect(row).toMatchObject({ setting: "near", protocol: "h3", client: "ours", loadMs: 470, lateRatio: 0.01 });
    expect(row.handshakeMs).toBeNaN();
    expect(counts(row)).toBe(true);
  });

  it.each([
    ["a busy core", 0.86, 0, "busy"],
    ["a late path", 0.5, 11, "late"],
    ["both", 0.9, 11, "busy"],
    ["cores that nobody saw", Number.NaN, 0, ""],
  ])("drops a load for %s", (_, busyRatio, late, dropped) => {
    expect(crossRow(load, line, busyRatio, { ...counted, late }).dropped).toBe(dropped);
  });

  it.each([
    ["too few bytes", { bytes: 999_999 }, "999999 bytes came instead of 1000000"],
    ["a fallback", { documentProtocol: "h2" as const }, "it came over h2 instead of h3"],
  ])("takes %s for a failure", (_, given, error) => {
    expect(crossRow(load, { ...line, ...given }, 0, counted)).toMatchObject({ outcome: "failed", error });
  });

  it("keeps the client's own reason", () => {
    const row = crossRow(load, { outcome: "timeout", error: "timeout", startedMs: 7 }, 0, counted);
    expect(row).toMatchObject({ outcome: "timeout", error: "timeout", bytes: 0 });
    expect(row.loadMs).toBeNaN();
  });
});
