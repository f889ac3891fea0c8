import { PHASE } from "../decision/compiled/cloudflare.ts";

/** How an owner puts rules in place that are in a file. */
export function placed(isTerraform: boolean): string {
  const call = `They are the body of PUT /zones/ZONE/rulesets/phases/${PHASE}/entrypoint, which replaces`;
  return [
    isTerraform ? "`terraform apply -var zone_id=ZONE` puts them in place, and takes away" : call,
    "ALL rules of that phase: put your own ones beside them first.",
  ].join(" ");
}
