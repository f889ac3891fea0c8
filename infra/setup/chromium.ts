import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { ROOT } from "./build.ts";
import { findOrInstall, findProgram } from "./programs.ts";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"] as const;

/** The browser for tests: CHROMIUM, one on the PATH, or playwright's own. Undefined without any. */
export function chromiumProgram(): string | undefined {
  const named = process.env["CHROMIUM"];
  if (named !== undefined && named !== "") return named;
  const own = chromium.executablePath();
  return findProgram(...NAMES) ?? (existsSync(own) ? own : undefined);
}

/** Installs a browser where none is and where that is possible: Debian's package as root, else playwright's download. */
export function installChromium(): string | undefined {
  const found = chromiumProgram() ?? findOrInstall(NAMES, "chromium");
  if (found !== undefined) return found;
  console.error("Installing a browser (playwright's download) ...");
  spawnSync(join(ROOT, "node_modules/.bin/playwright-core"), ["install", "--no-shell", "chromium"], {
    stdio: ["ignore", 2, 2],
    timeout: 300_000,
  });
  return chromiumProgram();
}
