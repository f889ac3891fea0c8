import { execFile } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";
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
  readonly ways: Readonly<Record<Actuator, Does>>;
  readonly rows: readonly { readonly tried: string; readonly came: string; readonly means: string }[];
  readonly next: readonly string[];
}
/** Runs the command as a person does, and reads its JSON. */
export async function doctor(
  { port, stateDir }: Pick<TestSystem, "port" | "stateDir">,
  resolver: string,
): Promise<{ report: Report; code: number }> {
  const env = {
    ...process.env,
    H3_URL: `https://localhost:${port}`,
    H3_TOKEN: TOKEN,
    H3_CA: join(stateDir, "dev-cert.pem"),
  };
  const args = [join(ROOT, "policy-api/cli/main.ts"), "doctor", "--json", "--resolver", resolver];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { env, cwd: ROOT }, (error, stdout, stderr) => {
      if (stdout === "") reject(new Error(stderr));
      else resolve({ report: JSON.parse(stdout) as Report, code: Number(error?.code ?? 0) });
    });
  });
}
