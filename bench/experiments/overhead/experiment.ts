import { size as sizeText } from "../../analysis/tables/format.ts";
import { defineLoopback } from "../../harness/loopback/define.ts";
import { LOOPBACK_COLUMNS, type Subject } from "../../harness/loopback/plan.ts";
import { LOOPBACK_ARMS, type LoopbackArm } from "../../lab/loopback-system.ts";
import { type Size, SIZES } from "../../model/request-plan.ts";
import { string } from "../../model/row-schema.ts";
import { CLIENTS, overheadReport } from "./report.ts";

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

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx.
 */
export const experiment = defineLoopback({
  row: { ...LOOPBACK_COLUMNS, size: string(), arm: string() },
  subjects: SUBJECTS,
  seconds: 2,
  quickSeconds: 0.5,
  openLoadRatio: 0.6,
  question: (subjects) => ({
    sizes: SIZES,
    clients: CLIENTS,
    arms: [...new Set(subjects.map(({ arm }) => arm))],
  }),
  report: overheadReport,
});
