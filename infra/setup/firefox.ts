import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../base/find-program.ts";
import { findOrInstall } from "./programs.ts";

const NAMES = ["firefox-esr", "firefox"] as const;

/** The browser for tests. Undefined if there is none, or no certutil, which tells it whom to trust. */
export function firefoxProgram(): string | undefined {
  return findProgram("certutil") === undefined ? undefined : findProgram(...NAMES);
}

/** Finds Firefox and certutil, or installs their Debian packages if that is possible and allowed. */
export function installFirefox(): string | undefined {
  if (findOrInstall(NAMES, "firefox-esr") === undefined) return undefined;
  return findOrInstall(["certutil"], "libnss3-tools") === undefined ? undefined : firefoxProgram();
}

export type Preferences = Readonly<Record<string, string | number | boolean>>;

/**
 * What a visitor's Firefox has otherwise: it asks for as little as it can beside what a test loads, and takes HTTP/3 from a server whose
 * certificate this machine made (`disable_when_third_party_roots_found`).
 */
const PREFERENCES: Preferences = {
  "network.http.http3.disable_when_third_party_roots_found": false,
  "network.trr.mode": 5,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "app.update.enabled": false,
  "app.normandy.enabled": false,
  "browser.safebrowsing.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "extensions.systemAddon.update.enabled": false,
};

/** Preferences of a Firefox that finds every host at one address, so that it reaches nobody else. @param more beside those that a test takes */
export function preferencesFor(address: string, more: Preferences = {}): Preferences {
  return { ...PREFERENCES, "network.dns.forceResolve": address, ...more };
}

/** Writes a profile that trusts a certificate into a folder. @param certificate a file */
export function writeProfile(folder: string, certificate: string, preferences: Preferences): void {
  execFileSync("certutil", ["-N", "--empty-password", "-d", `sql:${folder}`]);
  execFileSync("certutil", ["-A", "-n", "adaptive-h3", "-t", "CP,,", "-i", certificate, "-d", `sql:${folder}`]);
  const lines = Object.entries(preferences).map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`);
  writeFileSync(join(folder, "user.js"), lines.join(""));
}
