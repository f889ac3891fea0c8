// The command line of the policy API: npm run policy -- help
import type { Io } from "./io.ts";
import { run } from "./run.ts";

const { env } = process;
const io: Io = {
  env,
  // npm runs scripts in the project's folder; INIT_CWD is where it was called.
  folder: (env["npm_lifecycle_event"] === "policy" && env["INIT_CWD"]) || process.cwd(),
  projectFolder: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  nowMs: () => Date.now(),
};

// A reader of the output may stop early: `show 3 | head`.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

process.exitCode = await run(process.argv.slice(2), io);
