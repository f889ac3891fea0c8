import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import {
  browserArgs,
  type BrowserTarget,
  installChromium,
  UNWANTED_BROWSER_ARGS,
} from "../../../infra/setup/chromium.ts";
import { UserError } from "../../../base/user-error.ts";
import type { Lane } from "../../lab/lane.ts";

export const HOST = "h3.test";

/** @throws UserError where this machine has no browser and gets none */
export function requireBrowser(): string {
  const program = installChromium();
  if (program === undefined)
    throw new UserError("This takes Chromium: install it, or name it in the variable CHROMIUM.");
  return program;
}

/**
 * A browser in a lane's client namespace, driven over a pipe. It ends with `stack`.
 *
 * @param forcedPorts over which QUIC is spoken from the first packet
 */
export async function launchIn(
  lane: Lane,
  {
    program,
    folder,
    stack,
    ...target
  }: Omit<BrowserTarget, "host"> & {
    readonly program: string;
    readonly folder: string;
    readonly stack: AsyncDisposableStack;
  },
): Promise<Browser> {
  // Playwright starts one file, with the pipe's ends as its descriptors 3 and 4, which ip hands on.
  const starter = join(folder, `browser-${lane.index}.sh`);
  writeFileSync(starter, `#!/bin/sh\nexec ip netns exec '${lane.clientNamespace}' '${program}' "$@"\n`);
  chmodSync(starter, 0o700);
  const browser = await chromium.launch({
    executablePath: starter,
    args: browserArgs({ host: HOST, ...target }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
    // The bench ends it, in order.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  stack.defer(() => browser.close());
  return browser;
}
