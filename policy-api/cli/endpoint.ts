import { X509Certificate } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { EXIT, Failure, misused } from "./failure.ts";
import type { Io } from "./io.ts";
import { readFile } from "./files.ts";
import { ifGiven, type Options } from "./options.ts";
import { columnsOf, wrapped } from "./table.ts";

/**
 * Names of this machine, as URLs have them. Browsers ask no DNS for them (RFC 6761, section 6.3), no packet to them leaves the machine,
 * and over plain http nobody else can read it.
 */
export const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Where the API is, and which token goes there. */
export interface Endpoint {
  /** Without a path, as the path of the API is the same everywhere. */
  readonly origin: string;
  readonly token: string | undefined;
  /** A root certificate to trust besides the usual ones, PEM. */
  readonly ca: string | undefined;
  /** The file that it is in. */
  readonly caFile: string | undefined;
  readonly timeoutMs: number;
}

/** How long a call may take. */
const TIMEOUT_MS = 10_000;

/** Where `npm start` keeps its state, and this program its last answers. */
export function stateFolder({ env, projectFolder }: Pick<Io, "env" | "projectFolder">): string {
  return resolve(projectFolder, env["STATE_DIR"] || ".adaptive-h3");
}

/**
 * Finds the server: by --url or H3_URL, else the one that `npm start` runs here. That one gets its token and its certificate, however it
 * was named; no other server is shown them.
 *
 * @throws Failure
 */
export function findEndpoint(options: Options, io: Io): Endpoint {
  const variable = (name: string): string | undefined => io.env[name] || undefined;
  const given = options.url ?? variable("H3_URL");
  const own = `https://localhost:${variable("PORT") ?? "8443"}`;
  const origin = readOrigin(given ?? own);
  const { protocol, port, hostname } = new URL(origin);
  // This machine has several names.
  const isOwn = protocol === "https:" && port === new URL(own).port && LOCAL_HOSTS.has(hostname);
  const state = stateFolder(io);
  // Without a token the folder has no more than last answers.
  if (given === undefined && !existsSync(join(state, "token")))
    throw misused(
      `Which server? \`npm start\` has left no token in ${state}. Does it run there? It may have another STATE_DIR: then set the same one here. ` +
        "For any other server give --url or set H3_URL, as to `wrangler dev`'s http://localhost:8787.",
    );
  const made = (name: string): string | undefined => {
    const file = join(state, name);
    return isOwn && existsSync(file) ? file : undefined;
  };
  const inFolder = (file: string): string => resolve(io.folder, file);
  const token = options["token-file"] === undefined ? variable("H3_TOKEN") : undefined;
  const tokenFile = ifGiven(options["token-file"] ?? variable("H3_TOKEN_FILE"), inFolder) ?? made("token");
  const caFile = ifGiven(options.ca ?? variable("H3_CA"), inFolder) ?? made("dev-cert.pem");
  return {
    origin,
    token: token === undefined ? ifGiven(tokenFile, (file) => readToken(file, io)) : checked(token, "H3_TOKEN"),
    ca: ifGiven(caFile, readCertificate),
    caFile,
    timeoutMs: TIMEOUT_MS,
  };
}

function readOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "https:" && url.protocol !== "http:"))
    // The text is not repeated, as it may hold a password.
    throw misused("The server's address must be like https://www.example.com.");
  if (url.username !== "" || url.password !== "")
    throw misused("The server's address must hold no name and no password: the API takes a token.");
  if (!/^\/(_h3(\/v1)?\/?)?$/.test(url.pathname) || url.search !== "" || url.hash !== "")
    throw misused(`The server's address must be without a path: the API is at ${url.origin}/_h3/v1.`);
  // Over http a token travels in the clear.
  if (url.protocol === "http:" && !LOCAL_HOSTS.has(url.hostname))
    throw misused(`Over plain http the token would travel in the clear to ${url.hostname}: use https.`);
  return url.origin;
}

function readToken(file: string, io: Io): string {
  const text = readFile(file, "The token's file");
  // On Windows the bits of the mode mean something else.
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0)
    io.stderr.write(
      `${wrapped(`Warning: others on this machine may read the token in ${file}: chmod 600 it.`, columnsOf(io, io.stderr))}\n`,
    );
  return checked(text.trim(), file);
}

/** Lets pass what RFC 6750 section 2.1 allows. Anything else is the wrong file, and must not be sent. */
function checked(token: string, where: string): string {
  if (!/^[A-Za-z0-9\-._~+/]+=*$/.test(token)) throw new Failure(EXIT.token, `${where} holds no token.`);
  return token;
}

function readCertificate(file: string): string {
  const pem = readFile(file, "The certificate's file");
  try {
    void new X509Certificate(pem);
    return pem;
  } catch {
    throw misused(`${file} is no certificate in PEM.`);
  }
}
