import { periodAt } from "../../policy-api/decision/assignment.ts";
import { ADVERTISED, ARMS, type PageDecision, PAGE_POSITIONS } from "../../policy-api/visitors/page-outcome.ts";
import { TRANSPORTS } from "../../policy-api/decision/sample.ts";
import type { Hasher } from "../hasher.ts";

/** The form of the bytes below. A token of another form is not read. */
const FORM = 2;
const NONCE_AT = 30;
/** Enough to tell a page from all others. */
export const NONCE_BYTES = 6;
const CODE_AT = NONCE_AT + NONCE_BYTES;
/** No axis of a table has so many values. */
const NOT_KNOWN = 0xff;
/** 96 bits of code: nobody guesses one within the hour in which it is of use. */
const CODE_BYTES = 12;
const TOKEN_BYTES = CODE_AT + CODE_BYTES;
/** No character has bits to spare: 4 of them are 3 bytes. */
const TOKEN = new RegExp(`^[\\w-]{${(TOKEN_BYTES / 3) * 4}}$`);

/** A decision that a page brought back, and what tells this page from all others. */
export interface ReadToken {
  readonly decision: PageDecision;
  readonly nonce: string;
}

/**
 * Writes a decision for the page to take along: 64 characters, signed, and of no use to any other client. It says nothing
 * about the client, so that scripts of the page learn nothing that would tell visitors apart.
 */
export function writeToken(decision: PageDecision, client: string, hasher: Pick<Hasher, "reportCode">): string {
  const bytes = new Uint8Array(TOKEN_BYTES);
  const view = new DataView(bytes.buffer);
  bytes[0] = FORM;
  bytes[1] =
    ARMS.indexOf(decision.arm) |
    (ADVERTISED.indexOf(decision.advertised) << 2) |
    (PAGE_POSITIONS.indexOf(decision.position) << 4) |
    (TRANSPORTS.indexOf(decision.transport) << 7);
  view.setUint32(2, decision.policyVersion);
  view.setUint32(6, decision.revision);
  view.setUint16(10, Math.round(decision.propensity * 0xffff));
  // Not known is 0, which none of these can be.
  view.setFloat32(12, decision.rttMs ?? 0);
  view.setFloat32(16, decision.contentBytes);
  // How many periods have begun since the client was drawn: 0, or 1 if its look-up began at the end of one.
  view.setInt8(20, periodAt(decision.atMs) - decision.period);
  bytes[21] = decision.place?.rtt ?? NOT_KNOWN;
  bytes[22] = decision.place?.size ?? NOT_KNOWN;
  bytes[23] = decision.place?.loss ?? NOT_KNOWN;
  view.setUint16(24, Math.floor(decision.atMs / 2 ** 32));
  view.setUint32(26, decision.atMs % 2 ** 32);
  crypto.getRandomValues(bytes.subarray(NONCE_AT, CODE_AT));
  bytes.set(hasher.reportCode(bytes.subarray(0, CODE_AT), client, CODE_BYTES), CODE_AT);
  return bytes.toBase64({ alphabet: "base64url" });
}

/** Reads a token. Undefined if this deployment did not write it, or not for this client. */
export function readToken(token: string, client: string, hasher: Pick<Hasher, "reportCode">): ReadToken | undefined {
  if (!TOKEN.test(token)) return undefined;
  const bytes = Uint8Array.fromBase64(token, { alphabet: "base64url" });
  const code = hasher.reportCode(bytes.subarray(0, CODE_AT), client, CODE_BYTES);
  if (!isSame(code, bytes.subarray(CODE_AT)) || bytes[0] !== FORM) return undefined;
  const view = new DataView(bytes.buffer);
  const flags = view.getUint8(1);
  const arm = ARMS[flags & 3];
  const advertised = ADVERTISED[(flags >> 2) & 3];
  const position = PAGE_POSITIONS[(flags >> 4) & 7];
  const transport = TRANSPORTS[flags >> 7];
  // What is signed is whole. Only the types do not know that.
  if (arm === undefined || advertised === undefined || position === undefined || transport === undefined)
    return undefined;
  const rttMs = view.getFloat32(12);
  const atMs = view.getUint16(24) * 2 ** 32 + view.getUint32(26);
  const [rtt, size, loss] = [view.getUint8(21), view.getUint8(22), view.getUint8(23)];
  const decision: PageDecision = {
    policyVersion: view.getUint32(2),
    revision: view.getUint32(6),
    arm,
    advertised,
    propensity: view.getUint16(10) / 0xffff,
    position,
    transport,
    ...(rttMs === 0 ? {} : { rttMs }),
    contentBytes: view.getFloat32(16),
    period: periodAt(atMs) - view.getInt8(20),
    ...(rtt === NOT_KNOWN ? {} : { place: { rtt, size, ...(loss === NOT_KNOWN ? {} : { loss }) } }),
    atMs,
  };
  return { decision, nonce: nonceOf(token) };
}

/** What tells a token's page from all others. Its bytes begin and end where characters do. */
export function nonceOf(token: string): string {
  return token.slice((NONCE_AT / 3) * 4, (CODE_AT / 3) * 4);
}

/** In the same time wherever they differ, so that the time tells nothing about the right code. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (const [i, byte] of a.entries()) difference |= byte ^ (b[i] ?? 0);
  return difference === 0;
}
