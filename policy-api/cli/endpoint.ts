import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { Failure, EXIT, misused } from "./failure.ts";
import type { Io } from "./io.ts";
import type { Options } from "./options.ts";

/** Where the API is, and as whom it is called. */
export interface Endpoint {
  /** Without a path: the API's own is the same everywhere. */
  readonly origin: string;
  readonly token: string | undefined;
  /** A root certificate to trust beside the usual ones, PEM. */
  readonly ca: string | undefined;
  readonly timeoutMs: number;
}

/** What a change of the activation waits for at most. */
const TIMEOUT_MS = 10_000;
/** A token travels in the clear over http: only where it does not leave the machine. */
const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Finds the server: by --url or H3_URL, else the one that `npm start` runs here. The local server's token and certificate go
 * with the local server only: no other is shown them.
 *
 * @throws Failure
 */
export function findEndpoint(options: Options, io: Io): Endpoint {
  const given = options.url ?? variable(io, "H3_URL");
  const state = resolve(io.projectFolder, variable(io, "STATE_DIR") ?? ".adaptive-h3");
  if (given === undefined && !existsSync(state))
    throw misused(
      "Which server? Give --url or set H3_URL; without either it is the one of `npm start`, and there is no folder " +
        `${state} here.`,
    );
  const local = given === undefined ? state : undefined;
  return {
    origin: readOrigin(given ?? `https://localhost:${variable(io, "PORT") ?? "8443"}`),
    token: findToken(options, io, local),
    ca: findCa(options, io, local),
    timeoutMs: TIMEOUT_MS,
  };
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    // Not repeated: it may hold a password.
    throw misused("The server's address must be like https://www.example.com.");
  if (url.username !== "" || url.password !== "")
    throw misused("The server's address must hold no name and no password: the API takes a token.");
  if (!/^\/(_h3(\/v1)?\/?)?$/.test(url.pathname) || url.search !== "" || url.hash !== "")
    throw misused(`The server's address must be without a path: the API is at ${url.origin}/_h3/v1.`);
  if (url.protocol === "http:" && !LOCAL_HOSTS.has(url.hostname))
    throw misused(`Over plain http the token would travel in the clear to ${url.hostname}: use https.`);
  return url.origin;
}

function findToken(options: Options, io: Io, localState: string | undefined): string | undefined {
  const named = options["token-file"];
  const inVariable = variable(io, "H3_TOKEN");
  if (named === undefined && inVariable !== undefined) return checked(inVariable, "H3_TOKEN");
  const file = named ?? variable(io, "H3_TOKEN_FILE");
  if (file !== undefined) return readToken(resolve(io.folder, file), io);
  const made = localState === undefined ? undefined : join(localState, "token");
  return made !== undefined && existsSync(made) ? readToken(made, io) : undefined;
}

function readToken(file: string, io: Io): string {
  const text = read(file, "The token's file");
  // Bits of the mode mean something else on Windows.
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
    io.stderr.write(`Warning: others on this machine may read the token in ${file}: chmod 600 it.\n`);
  return checked(text.trim(), file);
}

/** What RFC 6750 section 2.1 allows; anything else is a file mixed up, and is sent to nobody. */
function checked(token: string, where: string): string {
  if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token)) throw new Failure(EXIT.token, `${where} holds no token.`);
  return token;
}

function findCa(options: Options, io: Io, localState: string | undefined): string | undefined {
  const named = options.ca ?? variable(io, "H3_CA");
  const made = localState === undefined ? undefined : join(localState, "dev-cert.pem");
  const file = named === undefined ? made : resolve(io.folder, named);
  if (file === undefined || (file === made && !existsSync(file))) return undefined;
  const pem = read(file, "The certificate's file");
  if (!isCertificate(pem)) throw misused(`${file} is no certificate in PEM.`);
  return pem;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function read(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw misused(`${what} cannot be read: ${(error as Error).message}`);
  }
}

/** Empty is as good as not set. */
function variable(io: Io, name: string): string | undefined {
  return io.env[name] || undefined;
}
