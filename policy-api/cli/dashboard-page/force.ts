import type { Stats } from "../../api/contract/deployment.ts";
import type { DashboardData } from "./data.ts";
import { element } from "./elements.ts";

/** Whether all is well; else a line for each thing that is not. */
export function stateOf({ health, activation, stats }: DashboardData): {
  readonly text: string;
  readonly isGood: boolean;
} {
  if ("fault" in health) return { text: health.fault, isGood: false };
  const { status, problems } = health.value;
  const kill = "value" in activation ? activation.value.killSwitch : null;
  const lines = [
    ...(kill === null ? [] : [`The kill switch is on (${kill}).`]),
    ...problems.map((problem) => `${problem}.`),
    ...("value" in stats ? missingOf(stats.value.objects) : []),
  ];
  return lines.length === 0 && status === "ok"
    ? { text: "All is well.", isGood: true }
    : { text: lines.join("\n"), isGood: false };
}

/** What the counts lack. */
function missingOf({ asked, answered }: Stats["objects"]): string[] {
  if (asked === 0) return ["Nothing is counted: the worker has no binding COUNTERS (wrangler.toml has it)."];
  return answered === asked
    ? []
    : [`Counts lack ${asked - answered} of ${asked} regions: the store did not answer there.`];
}

/** Who has which version. */
export function forceOf({ activation }: DashboardData): Node {
  if ("fault" in activation) return element("p", { class: "bad" }, activation.fault);
  const { revision, everyone, stages, author, at, note } = activation.value;
  const who = (share: number, pathPrefix: string | null | undefined): string =>
    `${Number((100 * share).toPrecision(3))} % of the clients${pathPrefix == null ? "" : ` on ${pathPrefix}`}`;
  const items = [
    ...stages.map(({ version, share, pathPrefix }) => `${who(share, pathPrefix)}: version ${version}`),
    `${stages.length === 0 ? "Everyone" : "Everyone else"}: version ${everyone}`,
  ];
  const made =
    revision === 0
      ? "Nobody has activated anything yet."
      : `Revision ${revision}, by ${author}, ${at}${note === null ? "" : `: ${note}`}`;
  return element(
    "div",
    {},
    element("ul", {}, ...items.map((item) => element("li", {}, item))),
    element("p", { class: "faint" }, made),
  );
}
