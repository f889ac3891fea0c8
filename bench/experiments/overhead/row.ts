import { LOOPBACK_COLUMNS } from "../../harness/loopback/plan.ts";
import { type RowSchema, string } from "../../model/row-schema.ts";

const { id, loop, round, ...others } = LOOPBACK_COLUMNS;

export const OVERHEAD_ROW = { id, loop, size: string(), round, arm: string(), ...others } as const satisfies RowSchema;
