import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { ROOT } from "../../base/root.ts";
import { findProgram } from "../../base/find-program.ts";
import { mayInstall } from "./consent.ts";
import { findOrInstall } from "./programs.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;

/** The browser for tests: CHROMIUM, one on the PATH, or playwright's own. Undefined if there is none. */
export function chromiumProgram(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const own = chromium.executablePath();
  return findProgram(...NAMES) ?? (existsSync(own) ? own : undefined);
}

export interface BrowserTarget {
  readonly host: string;
  /** More of them, at the same address. */
  readonly moreHosts?: readonly string[];
  /** Where the browser finds the hosts, without DNS. Undefined: it asks DNS. */
  readonly address?: string;
  /** Hosts to which the browser speaks no QUIC, each with its address and port, whatever port is asked for. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  /** The SHA-256 of the public key of the edge's certificate, base64. */
  readonly spkiSha256: string;
  /** Ports on which the browser uses QUIC from the first packet, without an offer. */
  readonly forcedPorts?: readonly number[];
}

/**
 * The options of a browser that accepts the edge's own certificate, over QUIC too. For QUIC the browser needs a known root,
 * except for hosts in the list of origins forced to QUIC. That exception looks at the host only. So an entry with a port that
 * nobody uses forces nothing, and Alt-Svc alone decides.
 */
export function browserArgs(target: BrowserTarget): string[] {
  const { host, moreHosts = [], address, elsewhere = {}, spkiSha256, forcedPorts = [1] } = target;
  const hosts = [host, ...moreHosts];
  const places = [...(address === undefined ? [] : hosts.map((name) => [name, address])), ...Object.entries(elsewhere)];
  return [
    `--ignore-certificate-errors-spki-list=${spkiSha256}`,
    "--enable-quic",
    `--origin-to-force-quic-on=${hosts.flatMap((name) => forcedPorts.map((port) => `${name}:${port}`)).join(",")}`,
    ...(places.length === 0
      ? []
      : [`--host-resolver-rules=${places.map(([name, place]) => `MAP ${name} ${place}`).join(",")}`]),
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
  ];
}

/** An option that playwright sets and these browsers must not have: with it, a page over http stays on http. */
export const UNWANTED_BROWSER_ARGS: readonly string[] = ["--disable-features=HttpsUpgrades"];

/** Finds a browser, or installs one if possible: Debian's package as root, else playwright's download. */
export function installChromium(): string | undefined {
  const found = chromiumProgram() ?? findOrInstall(NAMES, "chromium");
  if (found !== undefined) return found;
  if (!mayInstall("playwright's Chromium")) return undefined;
  console.error("Installing a browser (playwright's download) ...");
  spawnSync(join(ROOT, "node_modules/.bin/playwright-core"), ["install", "--no-shell", "chromium"], {
    stdio: ["ignore", 2, 2],
    timeout: 300_000,
  });
  return chromiumProgram();
}
