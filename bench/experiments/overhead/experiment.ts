import { defineLoopback } from "../../harness/loopback/define.ts";
import { SIZES } from "../../model/request-plan.ts";
import { overheadValues } from "./findings.ts";
import { overheadPicture } from "./picture.ts";
import { OVERHEAD_ROW } from "./row.ts";
import { CLIENTS, SUBJECTS } from "./subjects.ts";

/**
 * What a request costs through the real edge over TLS and HTTP/2: alone, with a worker that only passes on, with this
 * worker; and through nginx.
 */
export const experiment = defineLoopback({
  row: OVERHEAD_ROW,
  subjects: SUBJECTS,
  seconds: 2,
  quickSeconds: 0.5,
  openLoadRatio: 0.6,
  question: (subjects) => ({
    sizes: SIZES,
    clients: CLIENTS,
    arms: [...new Set(subjects.map(({ arm }) => arm))],
  }),
  report: (summary) => ({
    values: overheadValues(summary),
    pictures: [{ file: "overhead.svg", spec: overheadPicture(summary) }],
  }),
});
