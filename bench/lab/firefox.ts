import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import puppeteer from "puppeteer-core";
import { installFirefox, type Preferences, preferencesFor, writeProfile } from "../../infra/setup/firefox.ts";
import { UserError } from "../../base/user-error.ts";
import { SITE_HOST } from "../model/browser-pages.ts";
import type { LaneBrowser, Launching } from "./browser.ts";
import { shell, startServer } from "./shell.ts";

/** In a namespace of its own, where nothing else listens. */
const PORT = 9222;

/** @throws UserError where this machine has no Firefox and gets none */
function requireFirefox(): string {
  const program = installFirefox();
  if (program === undefined)
    throw new UserError(
      "This takes Firefox and certutil: install your system's packages firefox-esr and libnss3-tools.",
    );
  return program;
}

/** @throws UserError where this machine has none and gets none */
export async function firefoxVersion(): Promise<string> {
  return /\d[\d.]+/.exec(await shell(requireFirefox(), "--version"))?.[0] ?? "of unknown version";
}

/**
 * Starts Firefox, driven by WebDriver BiDi.
 *
 * @param preferences beside those that a test takes
 * @throws UserError
 */
export async function launchFirefox(
  { lane, origin: { address, caFile }, folder, prefix, stack }: Launching,
  preferences: Preferences,
): Promise<LaneBrowser> {
  const profile = mkdtempSync(join(folder, `firefox-${lane.index}-`));
  // Where a preference says a host's address, Firefox has none by which it finds an open connection again.
  writeProfile(profile, caFile, preferencesFor(address, { "network.dns.forceResolve": "", ...preferences }));
  const hosts = join(folder, `hosts-${lane.index}`);
  writeFileSync(hosts, `${address} ${SITE_HOST}\n127.0.0.1 localhost\n`);
  const inNamespace = ["ip", "netns", "exec", lane.clientNamespace] as const;
  // Firefox listens for its driver inside the namespace. A socket that is a file is reached from outside too.
  const socket = join(folder, `firefox-${lane.index}.sock`);
  const relay = [process.execPath, join(import.meta.dirname, "relay.ts"), socket, String(PORT)];
  await startServer("The relay to Firefox", [...inNamespace, ...relay], stack);
  const own = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", String(PORT)];
  // `ip netns exec` gives it mounts of its own, which go with it.
  const named = ["sh", "-c", `mount --bind '${hosts}' /etc/hosts && exec "$@"`, "sh"];
  const [first = "", ...more] = [
    ...prefix,
    ...inNamespace,
    ...named,
    "env",
    `HOME=${profile}`,
    requireFirefox(),
    ...own,
  ];
  await startServer("Firefox", [first, ...more], stack, /BiDi/);
  const browser = await puppeteer.connect({
    browserWSEndpoint: `ws+unix:${socket}:/session`,
    // It serves who names the host and port that it listens on.
    headers: { Host: `127.0.0.1:${PORT}` },
    protocol: "webDriverBiDi",
    defaultViewport: { width: 1280, height: 720 },
  });
  stack.defer(() => browser.close());
  return {
    isConnected: () => browser.connected,
    openClient: async () => {
      await lane.setClientAddress(lane.freshClient());
      const context = await browser.createBrowserContext();
      return { page: await context.newPage(), close: () => context.close() };
    },
  };
}
