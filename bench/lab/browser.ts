import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { browserArgs, installChromium, UNWANTED_BROWSER_ARGS } from "../../infra/setup/chromium.ts";
import { UserError } from "../../base/user-error.ts";
import { FILES_HOST } from "../model/browser-pages.ts";
import type { Lane, Origin } from "./lane.ts";

export const HOST = "h3.test";

/** @throws UserError where this machine has no browser and gets none */
export function requireBrowser(): string {
  const program = installChromium();
  if (program === undefined)
    throw new UserError("This takes Chromium: install it, or name it in the variable CHROMIUM.");
  return program;
}

/** @throws UserError where this machine has no browser and gets none */
export function browserVersion(): string {
  const printed = execFileSync(requireBrowser(), ["--version"], { encoding: "utf8" });
  return /\d[\d.]+/.exec(printed)?.[0] ?? "of unknown version";
}

/**
 * A browser in a lane's client namespace, driven over a pipe. It ends with `stack`.
 *
 * @param origin any of the lane's: all have the same address and certificate
 * @param forcedPorts where it speaks QUIC from the first packet; elsewhere Alt-Svc alone decides
 * @param filesPort where it finds FILES_HOST, if anywhere
 */
export async function launchIn(
  lane: Lane,
  { address, spkiSha256 }: Origin,
  forcedPorts: readonly number[],
  folder: string,
  stack: AsyncDisposableStack,
  filesPort?: number,
): Promise<Browser> {
  // Playwright starts one file, with the pipe's ends as its descriptors 3 and 4, which ip hands on.
  const starter = join(folder, `browser-${lane.index}.sh`);
  writeFileSync(starter, `#!/bin/sh\nexec ip netns exec '${lane.clientNamespace}' '${requireBrowser()}' "$@"\n`);
  chmodSync(starter, 0o700);
  const browser = await chromium.launch({
    executablePath: starter,
    args: browserArgs({
      host: HOST,
      address,
      spkiSha256,
      ...(forcedPorts.length === 0 ? {} : { forcedPorts }),
      ...(filesPort === undefined ? {} : { elsewhere: { [FILES_HOST]: `${address}:${filesPort}` } }),
    }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
    // The bench ends it, in order.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  stack.defer(() => browser.close());
  return browser;
}

/**
 * A page of a client that knows nothing of the site: its own connections, its own Alt-Svc, no cache, an address that the server
 * has not seen. The caller closes its context.
 */
export async function openClient(browser: Browser, lane: Lane): Promise<Page> {
  await lane.setClientAddress(lane.freshClient());
  const context = await browser.newContext();
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send("Network.enable");
  await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
  return page;
}
