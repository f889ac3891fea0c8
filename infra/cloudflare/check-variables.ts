import { runMain } from "../../base/run-main.ts";
import { UserError } from "../../base/user-error.ts";
import { readConfig, variableFaults } from "./config.ts";

// Runs before a build and stops it if a variable is invalid.
await runMain(() => {
  const faults = variableFaults(readConfig());
  if (faults.length > 0) throw new UserError(faults.map((fault) => `wrangler.toml: ${fault}.`).join("\n"));
});
