import { LOOPBACK_COLUMNS } from "../../harness/loopback/row.ts";
import { type RowSchema, string } from "../../model/row-schema.ts";

const { id, loop, round, ...measured } = LOOPBACK_COLUMNS;

export const OVERHEAD_ROW = {
  id,
  loop,
  size: string(),
  round,
  arm: string(),
  ...measured,
} as const satisfies RowSchema;
