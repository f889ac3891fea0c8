import { LOOPBACK_COLUMNS } from "../../harness/loopback/row.ts";
import type { LoopbackArm } from "../../lab/loopback-arms.ts";
import type { Size } from "../../model/request-plan.ts";
import { type RowSchema, string } from "../../model/row-schema.ts";

const { id, loop, round, ...measured } = LOOPBACK_COLUMNS;

export const OVERHEAD_ROW = {
  id,
  loop,
  size: string<Size>(),
  round,
  arm: string<LoopbackArm>(),
  ...measured,
} as const satisfies RowSchema;
