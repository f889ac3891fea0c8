import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { readSettings, VARIABLES } from "../../worker/settings.ts";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { runMain } from "../../base/run-main.ts";

// Runs before a deployment and stops it if a variable is invalid. A deployed worker could only use a default instead.
await runMain(() => {
  const { vars } = readConfig();
  const faults = [
    ...readSettings(vars).faults,
    ...Object.keys(vars)
      .filter((name) => !VARIABLES.includes(name))
      .map((name) => ({ name, message: `is unknown; the known ones are ${VARIABLES.join(", ")}` })),
  ];
  if (faults.length > 0)
    throw new UserError(
      faults.map(({ name, message }) => `wrangler.toml: the variable ${name} ${message}.`).join("\n"),
    );
});

function readConfig(): ReturnType<typeof unstable_readConfig> {
  try {
    return unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
  } catch (error) {
    const { message, location } = error as Error & { location?: { line?: number } };
    throw new UserError(`wrangler.toml${location?.line === undefined ? "" : `, line ${location.line}`}: ${message}`);
  }
}
