import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Health } from "../api/contract/deployment.ts";
import { parseJson } from "./client.ts";
import { LOCAL_HOSTS } from "./endpoint.ts";

/** Whether a QUIC connection carries a request to a site. Undefined: that could not be tried. */
interface Quic {
  readonly works: boolean | undefined;
  readonly why: string;
}

/** What a client of HTTP/3 said of a request. */
export interface QuicTry {
  readonly status?: number;
  readonly error?: string;
}

/** A site that has HTTP/3: where it cannot be had either, UDP does not get out of here. */
const CONTROL = "https://cloudflare-dns.com/";
const TIMEOUT_S = 5;

/**
 * Asks a site for a path over HTTP/3, by this project's own client (infra/faults/peer). Without that client the edge's own word is
 * enough on this machine, where nothing is in the way of UDP.
 */
export async function tryQuic(
  url: URL,
  projectFolder: string,
  caFile: string | undefined,
  edge: () => Promise<Health["http3"] | undefined>,
): Promise<Quic> {
  const program = join(projectFolder, "dist/peer");
  if (!existsSync(program)) {
    const said = LOCAL_HOSTS.has(url.hostname) ? await edge() : undefined;
    if (said !== undefined && said !== "unknown")
      return { works: said === "ok", why: `the edge says that its HTTP/3 is ${said}` };
    const how = existsSync(join(projectFolder, "infra/faults/peer"))
      ? "go -C infra/faults/peer build -o ../../../dist/peer ."
      : "copy dist/peer from a clone of the repository, which builds it";
    return { works: undefined, why: `no client: ${how}` };
  }
  return judged(
    await askOver(program, url.href, caFile),
    async () => LOCAL_HOSTS.has(url.hostname) || isThere(await askOver(program, CONTROL, undefined)),
  );
}

/** @param hasWayOut Whether UDP gets out of here, asked only where the site was silent. */
export async function judged(tried: QuicTry | undefined, hasWayOut: () => Promise<boolean>): Promise<Quic> {
  if (tried === undefined) return { works: undefined, why: "the client dist/peer does not run here" };
  if (isThere(tried)) return { works: true, why: `status ${tried.status} over HTTP/3` };
  const why = tried.error ?? "no answer";
  // The client trusts one root alone, and browsers trust others.
  if (/x509|certificate/i.test(why)) return { works: undefined, why };
  return (await hasWayOut()) ? { works: false, why } : { works: undefined, why: "no UDP gets out of here" };
}

function isThere(tried: QuicTry | undefined): boolean {
  return (tried?.status ?? 0) > 0;
}

/** Undefined: the client did not run. */
async function askOver(program: string, url: string, caFile: string | undefined): Promise<QuicTry | undefined> {
  const args = [
    "probe",
    "-protocol",
    "h3",
    "-timeout",
    `${TIMEOUT_S}s`,
    ...(caFile === undefined ? [] : ["-ca", caFile]),
    url,
  ];
  const stdout = await new Promise<string>((resolve) => {
    execFile(program, args, { timeout: 2000 * TIMEOUT_S }, (_error, text) => resolve(text));
  });
  return parseJson(stdout) as QuicTry | undefined;
}
