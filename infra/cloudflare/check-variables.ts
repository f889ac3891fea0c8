import { join } from "node:path";
import { unstable_readConfig } from "wrangler";
import { readSettings } from "../../worker/settings.ts";
import { ROOT } from "../setup/build.ts";

// Before a deployment: a worker that is already serving can only go on with a default, so a bad variable stops here.
const { vars } = unstable_readConfig({ config: join(ROOT, "wrangler.toml") });
const { faults } = readSettings(vars);
for (const { name, message } of faults) console.error(`wrangler.toml: the variable ${name} ${message}.`);
if (faults.length > 0) process.exitCode = 1;
