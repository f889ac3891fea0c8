import type { Subject } from "../../harness/loopback/plan.ts";
import { size as sizeText } from "../../analysis/tables/format.ts";
import { LOOPBACK_ARMS, type LoopbackArm } from "../../lab/loopback-arms.ts";
import { type Size, SIZES } from "../../model/request-plan.ts";

/**
 * In both loops. So many that none asks for more than about ten pages a second: who opens a hundred is no visitor, and what is kept of
 * one would be most of the cost. Of large responses fewer, as each is asked for twice before the seconds that count.
 */
export const CLIENTS = { small: 200, large: 50 };

/** What each arm does more than another one. */
const ADDS_TO: Partial<Record<LoopbackArm, LoopbackArm>> = {
  subresource: "pass-through",
  "fixed-h3": "pass-through",
  adaptive: "fixed-h3",
};

/** Every arm with files of both sizes. */
export const SUBJECTS: readonly Subject[] = (Object.keys(SIZES) as Size[]).flatMap((size) =>
  (Object.keys(LOOPBACK_ARMS) as LoopbackArm[]).map((arm) => subjectOf(size, arm)),
);

function subjectOf(size: Size, arm: LoopbackArm): Subject {
  const { title, secFetchDest, offers } = LOOPBACK_ARMS[arm];
  const less = ADDS_TO[arm];
  return {
    name: `${size}/${arm}`,
    title,
    group: sizeText(SIZES[size]),
    beside: `${size}/bare`,
    // The least that a worker can do.
    workerdBeside: `${size}/pass-through`,
    ...(less === undefined ? {} : { addsTo: `${size}/${less}` }),
    columns: { size, arm },
    arm,
    clients: CLIENTS[size],
    request: {
      path: `/image/${SIZES[size]}`,
      headers: { "Sec-Fetch-Dest": secFetchDest },
      offers,
      bodyBytes: SIZES[size],
    },
  };
}
