import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { browserArgs, installChromium, UNWANTED_BROWSER_ARGS } from "../../../infra/setup/chromium.ts";
import { UserError } from "../../../base/user-error.ts";
import type { Lane } from "../../lab/lane.ts";
import type { Congestion } from "../../model/congestion.ts";

export const HOST = "h3.test";

/** @throws UserError where this machine has no browser and gets none */
export function requireBrowser(): string {
  const program = installChromium();
  if (program === undefined)
    throw new UserError("This takes Chromium: install it, or name it in the variable CHROMIUM.");
  return program;
}

/**
 * A browser in a lane's client namespace, driven over a pipe. It speaks QUIC from the first packet to the arm `fixed-h3`, whose
 * port is its own; elsewhere Alt-Svc alone decides. It ends with `stack`.
 */
export async function launchIn(
  lane: Lane,
  congestion: Congestion,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Browser> {
  const { address, spkiSha256, port } = lane.origin("fixed-h3", congestion);
  // Playwright starts one file, with the pipe's ends as its descriptors 3 and 4, which ip hands on.
  const starter = join(folder, `browser-${lane.index}.sh`);
  writeFileSync(starter, `#!/bin/sh\nexec ip netns exec '${lane.clientNamespace}' '${requireBrowser()}' "$@"\n`);
  chmodSync(starter, 0o700);
  const browser = await chromium.launch({
    executablePath: starter,
    args: browserArgs({ host: HOST, address, spkiSha256, forcedPorts: [port] }),
    ignoreDefaultArgs: [...UNWANTED_BROWSER_ARGS],
    // The bench ends it, in order.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
  stack.defer(() => browser.close());
  return browser;
}
