import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../base/root.ts";

/**
 * Writes a configuration of workerd whose worker takes what stands before it for Cloudflare: an edge with `-config as-cloudflare=true`,
 * which tells of a connection no more than Cloudflare does. Pages' reports are then all that it learns of loss.
 *
 * @param ruleArms The worker's variable RULE_ARMS
 * @returns the path, for startWorkerd's `config`
 */
export function writeCloudflareConfig(folder: string, ruleArms = ""): string {
  const own = readFileSync(join(ROOT, "infra/workerd/config.capnp"), "utf8");
  const file = join(folder, "as-cloudflare.capnp");
  writeFileSync(
    file,
    own
      .replace(
        '( name = "EDGE", text = "adaptive-h3" )',
        `( name = "EDGE", text = "cloudflare" ), ( name = "RULE_ARMS", text = "${ruleArms}" )`,
      )
      // On Cloudflare a URL says whether the visitor came over TLS.
      .replace('cfBlobHeader = "MF-CF-Blob"', 'cfBlobHeader = "MF-CF-Blob", forwardedProtoHeader = "X-Forwarded-Proto"')
      // capnp reads the path relative to the written file, and has another meaning for an absolute path.
      .replace('embed "../../dist/worker.js"', `embed "${relative(folder, join(ROOT, "dist/worker.js"))}"`),
  );
  return file;
}
