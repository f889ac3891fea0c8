import type { Ruleset } from "../decision/compiled/cloudflare.ts";
import { ApiError, cloudflareApi, zoneOf } from "./cloudflare-api.ts";
import { EXIT, Failure } from "./failure.ts";
import type { Io } from "./io.ts";
import { readServiceUrl } from "./options.ts";

/** The rules that a zone has in the phase, before and after. */
interface ZoneRuleset {
  /** It grows with each change. Undefined: there is no ruleset. */
  readonly version?: string;
  readonly rules?: readonly unknown[];
}

/**
 * Asks Cloudflare whether it would take these rules for a host's zone. The call is the one that puts them in place, with `dry_run=true`: Cloudflare
 * documents (in September 2026) that it then checks expressions, fields, functions, the plan, quotas and the token, and changes nothing. As no call here
 * shall change a zone, the version of the zone's rules is read before and after.
 *
 * @returns how many rules they would replace
 * @throws Failure that says what Cloudflare refuses, field by field
 */
export async function dryRun({ phase, rules }: Ruleset, host: string, env: Io["env"]): Promise<number> {
  const { CLOUDFLARE_API_TOKEN: token, CLOUDFLARE_API_BASE_URL: base } = env;
  if (token === undefined || token === "")
    throw new Failure(EXIT.token, "--dry-run needs a token of Cloudflare's API in CLOUDFLARE_API_TOKEN.", {
      detail:
        "It must be allowed to read the zone, and to edit its Transform Rules: a dry run asks for what the change asks for.",
    });
  const call = cloudflareApi(token, base ? readServiceUrl(base, "CLOUDFLARE_API_BASE_URL") : undefined);
  try {
    const path = `/zones/${await zoneOf(host, call)}/rulesets/phases/${phase}/entrypoint`;
    const before = await call<ZoneRuleset>(path);
    await call(`${path}?dry_run=true`, rules);
    const after = await call<ZoneRuleset>(path);
    if (after.version !== before.version)
      throw new Failure(EXIT.changed, "The zone's rules changed during the dry run.", {
        detail: `They were version ${before.version ?? "none"}, and are version ${after.version ?? "none"}. Look at the zone: either somebody else changed them, or Cloudflare did not heed dry_run and put these rules in place.`,
      });
    return before.rules?.length ?? 0;
  } catch (error) {
    if (error instanceof ApiError) throw refusalOf(error, host);
    throw error;
  }
}

function refusalOf({ status, message, faults }: ApiError, host: string): Failure {
  if (status === 401 || status === 403)
    return new Failure(EXIT.token, `Cloudflare did not check the rules for ${host}: ${message}.`, { status });
  if (status === undefined || faults.length === 0)
    return new Failure(EXIT.unreachable, `Cloudflare did not check the rules for ${host}: ${message}.`, {
      ...(status !== undefined && { status }),
    });
  return new Failure(EXIT.refused, `Cloudflare refuses these rules for ${host}.`, {
    status,
    faults: faults.map(({ message: fault, source }) => ({ pointer: source?.pointer ?? "", message: fault })),
  });
}
