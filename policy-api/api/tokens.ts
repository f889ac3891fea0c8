import { type Scope, SCOPES } from "./contract/access.ts";

/** A token as the server knows it. Only its holder has the token itself. */
export interface Token {
  /** The audit shows this name. */
  readonly name: string;
  readonly scope: Scope;
  /** SHA-256 of the token, 32 bytes. Tokens are 256 random bits, so a fast hash is safe against guessing. */
  readonly sha256: Uint8Array;
}

const ENTRY = /^([a-z0-9][a-z0-9._-]{0,39}):(read|write|autopilot):([0-9a-f]{64})$/;

/**
 * Reads the secret POLICY_TOKENS: entries `name:scope:sha256`, separated by commas or white space. A fault
 * names an entry by its number, as the text may hold a token by mistake. The other entries count.
 */
export function parseTokens(text: string): { tokens: Token[]; faults: string[] } {
  const tokens: Token[] = [];
  const faults: string[] = [];
  for (const [i, entry] of text
    .split(/[\s,]+/)
    .filter(Boolean)
    .entries()) {
    const [, name, scope, hex] = ENTRY.exec(entry) ?? [];
    const known = SCOPES.find((one) => one === scope);
    if (name === undefined || known === undefined || hex === undefined)
      faults.push(`entry ${i + 1} must be name:SCOPE:SHA256, and SCOPE read, write or autopilot`);
    else if (tokens.some((token) => token.name === name)) faults.push(`entry ${i + 1} has the name of an earlier one`);
    else tokens.push({ name, scope: known, sha256: bytesOf(hex) });
  }
  return { tokens, faults };
}

/** The entry of a token in POLICY_TOKENS. */
export async function tokenEntry(name: string, scope: Scope, token: string): Promise<string> {
  const hex = [...(await sha256(token))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${name}:${scope}:${hex}`;
}

/**
 * Finds a token. It compares the hash with every known hash, to the last byte, so that the time it takes does not tell how
 * much of a token was right.
 */
export async function findToken(presented: string, tokens: readonly Token[]): Promise<Token | undefined> {
  const hash = await sha256(presented);
  let found: Token | undefined;
  for (const token of tokens) {
    let different = 0;
    for (let i = 0; i < hash.length; i++) different |= (hash[i] ?? 0) ^ (token.sha256[i] ?? 0);
    if (different === 0) found = token;
  }
  return found;
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}
