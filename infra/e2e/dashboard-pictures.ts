import { join } from "node:path";
import { chromium } from "playwright-core";
import { ROOT } from "../../base/root.ts";
import { chromiumProgram } from "../setup/chromium.ts";

/** The pictures of README.md and docs/operating.md: how wide, and in which scheme. */
const PICTURES = [
  { file: "dashboard.png", width: 1280, colorScheme: "light", fullPage: false },
  { file: "dashboard-narrow.png", width: 380, colorScheme: "dark", fullPage: true },
] as const;

/** Until each demonstration network has had enough visitors. */
const SAVED_MS = 120_000;
/** The views are drawn from answers that come after the page. */
const DRAWN_MS = 2_000;

/**
 * Takes them of a dashboard that runs, into docs: `DEMO_VISITORS=on npm start`, and then
 * `node infra/e2e/dashboard-pictures.ts http://127.0.0.1:8480/`.
 */
const [url] = process.argv.slice(2);
const executablePath = chromiumProgram();
if (url === undefined) throw new Error("say which dashboard: node infra/e2e/dashboard-pictures.ts URL");
if (executablePath === undefined) throw new Error("no browser: see infra/setup/chromium.ts");
const browser = await chromium.launch({ executablePath });
try {
  for (const { file, width, colorScheme, fullPage } of PICTURES) {
    const context = await browser.newContext({ viewport: { width, height: 1200 }, colorScheme });
    const page = await context.newPage();
    await page.goto(url);
    await page.getByText("No fault is known.").waitFor();
    await page.locator("#effect th", { hasText: "AS64499" }).waitFor({ timeout: SAVED_MS });
    await page.waitForTimeout(DRAWN_MS);
    await page.screenshot({ path: join(ROOT, "docs", file), fullPage });
    await context.close();
  }
} finally {
  await browser.close();
}
