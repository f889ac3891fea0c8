import { describe, expect, it } from "vitest";
import { LOSS_NODES, NODES } from "../../../policy-api/core/loss-nodes.ts";
import { seededRandom } from "../../analysis/statistics/random.ts";
import { bestPower, type Counted, scoreOf, scoresOf } from "./power.ts";

const random = seededRandom(1, "power");
const SENT = 500;
/** Lost one by one, or so many at once. */
const visits = (lossRatio: number, atOnce: number): Counted[] =>
  Array.from({ length: 300 }, () => {
    let lost = 0;
    for (let packet = 0; packet < SENT / atOnce; packet++) if (random() < lossRatio) lost += atOnce;
    return { lossRatio, sent: SENT, lost };
  });
const OF_ALL = LOSS_NODES.map((loss) => visits(loss, 1));

describe("the power of a packet", () => {
  it("is 1 where packets are lost one by one", () => {
    expect(bestPower(scoresOf(OF_ALL))).toBeGreaterThanOrEqual(0.7);
  });

  it("is a tenth where ten are lost at once", () => {
    const power = bestPower(scoresOf(LOSS_NODES.map((loss) => visits(loss, 10))));
    expect(power).toBeGreaterThanOrEqual(0.05);
    expect(power).toBeLessThanOrEqual(0.2);
  });

  it("scores no knowledge as one node of many", () => {
    expect(scoreOf(1, [{ lossRatio: 0.02, sent: 0, lost: 0 }])).toBeCloseTo(-Math.log(NODES), 12);
  });
});
