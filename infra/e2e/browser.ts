import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import puppeteer, { type Page as PuppeteerPage } from "puppeteer-core";
import { onTestFinished } from "vitest";
import { browserArgs, chromiumProgram, UNWANTED_BROWSER_ARGS } from "../setup/chromium.ts";
import { firefoxProgram, type Preferences, preferencesFor, writeProfile } from "../setup/firefox.ts";
import { testFolder, type TestSystem, until } from "./harness.ts";

const HOST = "h3.test";

/**
 * Starts a browser that reaches this machine's edge, also under more names. It ends with the test.
 *
 * @param forcedPorts Ports on which it uses HTTP/3 without an offer.
 */
export async function launchBrowser(
  spkiSha256: string,
  moreHosts: readonly string[] = [],
  forcedPorts: readonly number[] = [1],
): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
  const browser = await chromium.launch({
    executablePath,
    args: browserArgs({ host: HOST, moreHosts, address: "127.0.0.1", spkiSha256, forcedPorts }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
  });
  onTestFinished(() => browser.close());
  return browser;
}

/** Starts a Chromium with a fresh profile that asks this resolver. Rules for hosts would answer in the place of DNS, so it has none. */
export async function launchWithDns(
  spkiSha256: string,
  hosts: readonly string[],
  resolver: string,
): Promise<BrowserContext> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
  const profile = testFolder();
  const dns = { mode: "secure", templates: resolver };
  writeFileSync(join(profile, "Local State"), JSON.stringify({ dns_over_https: dns }));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: browserArgs({ host: HOST, moreHosts: hosts, spkiSha256 }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
  });
  onTestFinished(() => context.close());
  return context;
}

/** After this long without a request a QUIC connection has ended, milliseconds: the edge's idle timeout is 30 s. */
export const RESTS_MS = 36_000;

/** A page of either browser. */
export type DrivenPage = Pick<Page, "goto" | "evaluate">;

/** Opens a page of a client that knows nothing of any site. */
export type OpenClient = () => Promise<{ readonly page: DrivenPage; readonly close: () => Promise<void> }>;

/** Clients of a Chromium that ends with the test. */
async function chromiumClients(
  { spkiSha256 }: Pick<TestSystem, "spkiSha256">,
  hosts: readonly string[] = [],
): Promise<OpenClient> {
  const browser = await launchBrowser(spkiSha256, hosts);
  return async () => {
    const context = await browser.newContext();
    return { page: await context.newPage(), close: () => context.close() };
  };
}

/** Clients of a Firefox that ends with the test. */
async function firefoxClients(system: Pick<TestSystem, "stateDir">): Promise<OpenClient> {
  const browser = await launchFirefox(system, testFolder());
  return async () => {
    const context = await browser.createBrowserContext();
    return { page: drivenPage(await context.newPage()), close: () => context.close() };
  };
}

/**
 * Starts a browser that asks this resolver (DNS over HTTPS, with TLS) for every name, HTTPS records included. It ends with the test.
 *
 * @param hosts those whose certificate it takes
 */
export async function openWithDns(
  name: keyof typeof CLIENTS,
  system: Pick<TestSystem, "spkiSha256" | "stateDir">,
  hosts: readonly string[],
  resolver: string,
): Promise<OpenClient> {
  if (name === "Chromium") {
    const context = await launchWithDns(system.spkiSha256, hosts, resolver);
    return async () => {
      const page = await context.newPage();
      return { page, close: () => page.close() };
    };
  }
  const browser = await launchFirefox(system, testFolder(), {
    "network.trr.mode": 3,
    // The certificate is for this name.
    "network.trr.uri": resolver.replace("127.0.0.1", "localhost"),
    "network.trr.confirmationNS": "skip",
    // It takes no address of this machine from a resolver otherwise.
    "network.trr.allow-rfc1918": true,
    "network.dns.forceResolve": "",
  });
  return async () => {
    const page = await browser.newPage();
    return { page: drivenPage(page), close: () => page.close() };
  };
}

/** How to get clients of each browser, who reach this machine's edge by its test names. */
export const CLIENTS = { Chromium: chromiumClients, Firefox: firefoxClients } as const;

/**
 * Starts a Firefox that finds every name at this machine's edge. It ends with the test, or sooner.
 *
 * @param profile an empty folder, or one that an earlier Firefox had
 */
export async function launchFirefox(
  { stateDir }: Pick<TestSystem, "stateDir">,
  profile: string,
  preferences?: Preferences,
) {
  const executablePath = firefoxProgram();
  if (executablePath === undefined) throw new Error("no Firefox: see infra/setup/firefox.ts");
  const extraPrefsFirefox = { ...preferencesFor("127.0.0.1", preferences) };
  if (!existsSync(join(profile, "user.js"))) writeProfile(profile, join(stateDir, "dev-cert.pem"), {});
  const launching = { executablePath, userDataDir: profile, extraPrefsFirefox };
  const browser = await puppeteer.launch({ browser: "firefox", ...launching });
  onTestFinished(() => browser.close());
  return browser;
}

/** Both libraries call and answer alike here. */
export function drivenPage(page: PuppeteerPage): DrivenPage {
  return page as unknown as DrivenPage;
}

/** Navigates, and returns the page's protocol (`h2`, `h3`). */
export async function navigate(page: DrivenPage, port: number, path = "/", host = HOST): Promise<string> {
  const response = await page.goto(`https://${host}:${port}${path}`, { waitUntil: "load" });
  if (response?.status() !== 200) throw new Error(`${path}: status ${response?.status()}`);
  return page.evaluate(
    () => (performance.getEntriesByType("navigation") as PerformanceNavigationTiming[])[0]?.nextHopProtocol ?? "",
  );
}

/**
 * Long enough for a browser to open HTTP/3 after an offer, which it does in the background: Chromium asks again after 0.3 and 0.9 s, and
 * the edge answers once the page rests for 0.3 s.
 */
export const OPENS_MS = 1_000;

/**
 * Waits until the browser has opened HTTP/3. Until then it uses the open connection. A person's next click comes later than that; a
 * program's does not.
 */
export async function untilH3(page: DrivenPage): Promise<void> {
  await until("HTTP/3 opened", async () => {
    await sleep(OPENS_MS);
    return (await loadImage(page, 100)) === "h3" ? true : undefined;
  });
}

/** Loads a file from the open page, without the cache, and returns its protocol. */
export async function loadImage(page: DrivenPage, bytes: number): Promise<string> {
  return page.evaluate(async (path) => {
    await (await fetch(path, { cache: "no-store" })).arrayBuffer();
    const entries = performance.getEntriesByName(new URL(path, location.href).href) as PerformanceResourceTiming[];
    return entries.at(-1)?.nextHopProtocol ?? "";
  }, `/image/${bytes}`);
}
