import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { browserArgs, installChromium, UNWANTED_BROWSER_ARGS } from "../../infra/setup/chromium.ts";
import { UserError } from "../../base/user-error.ts";
import { FILES_HOST, SITE_HOST } from "../model/browser-pages.ts";
import type { Lane, Origin } from "./lane.ts";
import type { DrivenPage } from "./navigate.ts";

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

/** What a browser is started with. It ends with `stack`. */
export interface Launching {
  readonly lane: Lane;
  /** Any of the lane's: all have the same address and certificate. */
  readonly origin: Origin;
  readonly folder: string;
  /** What its command begins with, as of a slow device. */
  readonly prefix: readonly string[];
  readonly stack: AsyncDisposableStack;
}

/** A browser in a lane's client namespace, whichever it is. */
export interface LaneBrowser {
  readonly isConnected: () => boolean;
  /**
   * A client that knows nothing of the site: its own connections, its own Alt-Svc, no cache, an address that the server has not
   * seen.
   */
  readonly openClient: () => Promise<{ readonly page: DrivenPage; readonly close: () => Promise<void> }>;
}

/**
 * Starts Chromium, driven over a pipe.
 *
 * @param forcedPorts where it speaks QUIC from the first packet; elsewhere Alt-Svc alone decides
 * @param filesPort where it finds FILES_HOST, if anywhere
 */
export async function launchChromium(
  { lane, origin: { address, spkiSha256 }, folder, prefix, stack }: Launching,
  { forcedPorts, filesPort }: { readonly forcedPorts: readonly number[]; readonly filesPort: number | undefined },
): Promise<LaneBrowser> {
  // Playwright starts one file, with the pipe's ends as its descriptors 3 and 4, which ip hands on.
  const starter = join(folder, `browser-${lane.index}.sh`);
  const command = [...prefix, "ip", "netns", "exec", lane.clientNamespace, requireBrowser()];
  writeFileSync(starter, `#!/bin/sh\nexec ${command.map(quoted).join(" ")} "$@"\n`);
  chmodSync(starter, 0o700);
  const browser = await chromium.launch({
    executablePath: starter,
    args: browserArgs({
      host: SITE_HOST,
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
  return {
    isConnected: () => browser.isConnected(),
    openClient: async () => {
      await lane.setClientAddress(lane.freshClient());
      const context = await browser.newContext();
      const page = await context.newPage();
      const devtools = await context.newCDPSession(page);
      await devtools.send("Network.enable");
      await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
      return { page, close: () => context.close() };
    },
  };
}

/** A word of a shell's command. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
