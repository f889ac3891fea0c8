import { CONNECTIONS } from "../../../policy-api/core/connections.ts";
import type { ConnectionSeen, History, RequestFacts } from "../../../policy-api/core/facts.ts";
import type { GainTable } from "../../../policy-api/core/gain-table.ts";
import { NODES } from "../../../policy-api/core/loss-nodes.ts";
import { TRANSPORTS } from "../../../policy-api/core/sample.ts";
import { integer, seededRandom } from "../../analysis/statistics/random.ts";
import { documentOf } from "../../model/content.ts";

/** One navigation to decide on. */
export type Input = ReturnType<typeof inputsOver>[number];

export const NOW_MS = 1_767_225_600_000;

const CONTENTS = [100_000, 1_000_000, 10_000_000, 25_000_000];

/** Navigations all over a table, of clients of whom as much is remembered as can be: the most that a decision does. */
export function inputsOver({ rttMs, lossRatio }: GainTable, count: number, seed: number) {
  const random = seededRandom(seed, "decide-cost", "inputs");
  const anyRtt = (): number => {
    const [low, high] = [Math.max(rttMs[0] ?? 0, 1), rttMs.at(-1) ?? 1];
    return low * (high / low) ** random();
  };
  const connection = (near: number): ConnectionSeen => {
    const packets = 200 + integer(5_000, random);
    return {
      transport: TRANSPORTS[integer(2, random)] ?? "tcp",
      ageMs: 86_400_000 * random(),
      packets,
      lost: Math.round(packets * (lossRatio.at(-1) ?? 0) * random() ** 3),
      rttMs: near * (1 + 0.3 * random()),
      bytes: packets * 1_400,
      busyMs: 100 + 2_000 * random(),
    };
  };
  const clients = (): number[] => Array.from({ length: NODES }, () => 10 * random());
  return Array.from({ length: count }, () => {
    const contentBytes = CONTENTS[integer(CONTENTS.length, random)] ?? 0;
    const rtt = anyRtt();
    return {
      request: {
        transport: random() < 0.5 ? "tcp" : "quic",
        rttMs: rtt,
        path: documentOf(contentBytes),
        asn: 64_496,
        country: "JP",
        offerUntilMs: random() < 0.5 ? NOW_MS + 60_000 : 0,
        offering: random() < 0.5,
        answeredAtMs: NOW_MS - 30_000,
        pausedUntilMs: 0,
        shareUnit: random(),
      } satisfies RequestFacts,
      history: {
        state: "known",
        connections: Array.from({ length: CONNECTIONS }, () => connection(rtt)),
        network: clients(),
        asn: clients(),
        site: clients(),
      } satisfies History,
      explorationUnit: random(),
      /** What the request's path tells. */
      contentBytes,
    };
  });
}
