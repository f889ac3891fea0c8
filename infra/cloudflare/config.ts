import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { readSettings, VARIABLES } from "../../worker/settings.ts";

export type Config = ReturnType<typeof unstable_readConfig>;

export const CONFIG = join(ROOT, "wrangler.toml");

/**
 * wrangler.toml, as wrangler reads it. @throws UserError with the line where it cannot
 *
 * @param environment Of its tables `env.NAME`. Empty: none.
 */
export function readConfig(file = CONFIG, environment = ""): Config {
  try {
    return unstable_readConfig({ config: file, env: environment }, { hideWarnings: true });
  } catch (error) {
    const { message, location } = error as Error & { location?: { line?: number } };
    throw new UserError(`wrangler.toml${location?.line === undefined ? "" : `, line ${location.line}`}: ${message}`);
  }
}

/** Variables that are invalid or unknown. A deployed worker could only use a default instead. */
export function variableFaults({ vars }: Pick<Config, "vars">): string[] {
  return [
    ...readSettings(vars).faults,
    ...Object.keys(vars)
      .filter((name) => !VARIABLES.includes(name))
      .map((name) => ({ name, message: `is unknown; the known ones are ${VARIABLES.join(", ")}` })),
  ].map(({ name, message }) => `the variable ${name} ${message}`);
}
