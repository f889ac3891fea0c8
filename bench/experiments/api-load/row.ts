import { LOOPBACK_COLUMNS } from "../../harness/loopback/row.ts";
import { type RowSchema, string } from "../../model/row-schema.ts";

const { id, loop, ...measured } = LOOPBACK_COLUMNS;

/** A subject's row, or that of one kind of caller in the same seconds. */
export const API_LOAD_ROW = { id, loop, subject: string(), ...measured } as const satisfies RowSchema;
