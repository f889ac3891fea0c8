import { type Arm, ARMS } from "../../../policy-api/reports/page-outcome.ts";

/** The form of the worker's tokens that is read here (worker/reporter/token.ts). */
const FORM = 2;

/** Who chose a page's answer, and under which version. */
export interface Decided {
  readonly arm: Arm;
  readonly version: number;
}

/** Reads of a page's token what its signature is not needed for. @throws Error for a token of another form */
export function decidedBy(token: string): Decided {
  const bytes = Buffer.from(token, "base64url");
  const arm = ARMS[bytes.readUInt8(1) & 3];
  if (bytes.readUInt8(0) !== FORM || arm === undefined) throw new Error(`This token is of another form: ${token}`);
  return { arm, version: bytes.readUInt32BE(2) };
}
