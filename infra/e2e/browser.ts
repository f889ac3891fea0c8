import { type Browser, chromium, type Page } from "playwright-core";
import { onTestFinished } from "vitest";
import { chromiumProgram } from "../setup/chromium.ts";
import { until } from "./harness.ts";

const HOST = "h3.test";

/**
 * A browser that takes the edge's own certificate, over QUIC too. QUIC wants a known root unless the host is on the list
 * of those forced to QUIC; the list looks at hosts only, so with a port that nobody uses it forces nothing, and Alt-Svc
 * alone decides.
 */
export async function launchBrowser(spkiSha256: string): Promise<Browser> {
  const executablePath = chromiumProgram();
  if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
  const browser = await chromium.launch({
    executablePath,
    args: [
      `--ignore-certificate-errors-spki-list=${spkiSha256}`,
      "--enable-quic",
      `--origin-to-force-quic-on=${HOST}:1`,
      `--host-resolver-rules=MAP ${HOST} 127.0.0.1`,
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
    ],
    ignoreDefaultArgs: ["--disable-features=HttpsUpgrades"],
  });
  onTestFinished(() => browser.close());
  return browser;
}

/** Navigates; returns the protocol that the page came over (`h2`, `h3`). */
export async function navigate(page: Page, port: number, path = "/"): Promise<string> {
  const response = await page.goto(`https://${HOST}:${port}${path}`, { waitUntil: "load" });
  if (response?.status() !== 200) throw new Error(`${path}: status ${response?.status()}`);
  return page.evaluate(
    () => (performance.getEntriesByType("navigation") as PerformanceNavigationTiming[])[0]?.nextHopProtocol ?? "",
  );
}

/**
 * Waits until the browser has opened HTTP/3, as it does in the background when it is offered: until then its requests use
 * the connection that is there. A person's next click comes later than that; a program's does not.
 */
export async function untilH3(page: Page): Promise<void> {
  await until("HTTP/3 opened", async () => ((await loadImage(page, 100)) === "h3" ? true : undefined));
}

/** Loads a file past the cache, from the page that is open; returns the protocol that it came over. */
export async function loadImage(page: Page, bytes: number): Promise<string> {
  return page.evaluate(async (path) => {
    await (await fetch(path, { cache: "no-store" })).arrayBuffer();
    const entries = performance.getEntriesByName(new URL(path, location.href).href) as PerformanceResourceTiming[];
    return entries.at(-1)?.nextHopProtocol ?? "";
  }, `/image/${bytes}`);
}
