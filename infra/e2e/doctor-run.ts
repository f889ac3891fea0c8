import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { ROOT } from "../../base/root.ts";
import { run } from "../../policy-api/cli/run.ts";
import type { Actuator } from "../../policy-api/decision/alt-svc.ts";
import { type TestSystem, TOKEN } from "./harness.ts";

/** What a browser does with a way of acting; null: not known. */
export interface Does {
  readonly offers: boolean | null;
  readonly withholds: boolean | null;
  readonly takesBack: boolean | null;
  readonly works: boolean | null;
}
/** What the command says with --json. */
export interface Report {
  readonly actuator: Actuator;
  readonly works: boolean | null;
  /** In Chromium. */
  readonly ways: Readonly<Record<Actuator, Does>>;
  readonly inFirefox: Readonly<Record<Actuator, Does>>;
  readonly rows: readonly { readonly tried: string; readonly came: string; readonly means: string }[];
  readonly next: readonly string[];
}
/** Runs the command in this process, which spares its start, and reads its JSON. */
export async function doctor(
  { port, stateDir }: Pick<TestSystem, "port" | "stateDir">,
  resolver: string,
): Promise<{ report: Report; code: number }> {
  const env = {
    STATE_DIR: stateDir,
    H3_URL: `https://localhost:${port}`,
    H3_TOKEN: TOKEN,
    H3_CA: join(stateDir, "dev-cert.pem"),
  };
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const world = { env, folder: stateDir, projectFolder: ROOT, stdin, stdout, stderr, nowMs: () => Date.now() };
  const code = await run(["doctor", "--json", "--resolver", resolver], world);
  stdout.end();
  stderr.end();
  const [report, errors] = await said;
  if (report === "") throw new Error(errors);
  return { report: JSON.parse(report) as Report, code };
}
