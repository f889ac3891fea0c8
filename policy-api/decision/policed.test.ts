import { expect, it } from "vitest";
import { evidenceOf } from "./evidence.ts";
import type { ConnectionSeen } from "./facts.ts";
import { quicAlone } from "./policed.ts";
import { seen } from "./testing.ts";

const chance = (...connections: ConnectionSeen[]) => quicAlone(evidenceOf({ state: "known", connections }, 50));
const tcp = seen({ packets: 1_300, lost: 0 });
const quic = (lossRatio: number) => seen({ transport: "quic", packets: 1_300, lost: 1_300 * lossRatio });

it.each([0.02, 0.08, 0.2])("loss of %d that QUIC alone sees is the network's policing of UDP", (loss) => {
  expect(chance(tcp, quic(loss))).toBeGreaterThan(0.9);
});

it("where both lose as much it is the path's", () => {
  for (const loss of [0.005, 0.02, 0.05])
    expect(chance(seen({ packets: 1_300, lost: 1_300 * loss }), quic(loss))).toBeLessThan(0.01);
});

it("of a connection that sent 10 MB it is most likely its own slow start", () => {
  expect(chance(tcp, seen({ transport: "quic", packets: 7_500, lost: 650 }))).toBeLessThan(0.1);
});

it("grows with each lost packet, and is nothing before the first", () => {
  const chances = [0, 4, 8, 16, 32].map((lost) => chance(tcp, seen({ transport: "quic", packets: 400, lost })));
  expect(chances[0]).toBe(0);
  expect(chances).toEqual(chances.toSorted((a, b) => a - b));
  expect(chances.at(-1)).toBeGreaterThan(0.9);
});

it("does not believe figures that no counter shows", () => {
  for (const broken of [
    { packets: 10, lost: 11 },
    { packets: Number.NaN, lost: 0 },
    { packets: 10, lost: -1 },
  ])
    expect(chance(tcp, seen({ transport: "quic", ...broken }))).toBe(0);
});
