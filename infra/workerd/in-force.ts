import { killSwitchLines, policiesOf, stagesOf, stageText } from "../../policy-api/cli/activation-text.ts";
import type { Api } from "../../policy-api/cli/api.ts";
import { counted, percent } from "../../policy-api/cli/quantities.ts";
import type { ActivationState } from "../../policy-api/decision/activation.ts";
import type { Policy } from "../../policy-api/decision/policy.ts";

/** What is in force, in lines: as the store has it, whatever this start meant to put there. Never rejects. */
export async function inForceLines(api: Pick<Api, "activation" | "version">): Promise<readonly string[]> {
  try {
    const { activation } = await api.activation();
    return linesOf(activation, await policiesOf(stagesOf(activation), api));
  } catch (error) {
    return [`The policy store does not say what is in force: ${(error as Error).message}`];
  }
}

export function linesOf(
  { everyone, stages, killSwitch }: ActivationState,
  policies: ReadonlyMap<number, Policy>,
): readonly string[] {
  const line = (who: string, version: number): string =>
    `${who}: version ${version}, ${policyText(policies.get(version))}`;
  return [
    ...killSwitchLines(killSwitch).filter(Boolean),
    ...stages.map((stage) => line(stageText(stage), stage.version)),
    line(stages.length === 0 ? "everyone" : "everyone else", everyone),
  ];
}

/** What a policy does to responses. */
function policyText(policy: Policy | undefined): string {
  if (policy === undefined) return "which cannot be read";
  const { mode, provenance, rules, exploration, reports } = policy;
  const source =
    mode === "adaptive" && provenance !== undefined ? ` (for TCP with ${provenance.congestionControl})` : "";
  const facts = [
    mode === "observe" ? "observe: it measures, and offers nothing" : mode + source,
    rules.length === 0 ? "" : `${counted(rules.length, "rule")} of other modes`,
    mode === "adaptive" && exploration.share > 0
      ? `${percent(exploration.share)} of clients draw their answer, to compare both`
      : "",
    reports.share === 0
      ? ""
      : `${reports.share < 1 ? `pages of ${percent(reports.share)} of clients` : "pages"} report how long they took${reports.inject ? ", by a script that the worker puts in" : ""}`,
  ];
  return facts.filter(Boolean).join("; ");
}
