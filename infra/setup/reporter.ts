import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transform } from "esbuild";
import { ROOT } from "../../base/root.ts";

const SOURCE = join(ROOT, "worker/reporter/page/reporter.ts");
export const REPORTER_MODULE = join(ROOT, "worker/reporter/script.ts");

/** The reporter as pages get it. Every browser with HTTP/3 understands this target. */
export async function minifiedReporter(): Promise<string> {
  const source = readFileSync(SOURCE, "utf8");
  // A name of its own in the page's scope could be one of the page's too.
  const { code } = await transform(source, { loader: "ts", minify: true, target: "es2020", format: "iife" });
  return code;
}

/**
 * The module that the worker serves the reporter from. It is kept in the repository: wrangler, workerd and the tests all
 * take it as it is, and none of them needs a step before.
 */
export function reporterModule(script: string): string {
  const tag = createHash("sha256").update(script).digest("hex").slice(0, 16);
  return [
    "// `npm run build:reporter` writes this file from page/reporter.ts. A test says when it is out of date.",
    "",
    `export const REPORTER_ETAG = '"${tag}"';`,
    "",
    `export const REPORTER_SCRIPT =\n  ${JSON.stringify(script)};`,
    "",
  ].join("\n");
}

if (import.meta.main) writeFileSync(REPORTER_MODULE, reporterModule(await minifiedReporter()));
