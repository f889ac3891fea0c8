import { type Config, variableFaults } from "./config.ts";
import { filesOf, hostsOf, isPattern, OWN_PATH, type Pattern, patternOf, takesAll, takesOwnPath } from "./routes.ts";

/** What a deployment will do, and why it must not. */
export interface Plan {
  /** Sentences without an end, about wrangler.toml. Any of them stops the deployment. */
  readonly faults: readonly string[];
  /** What it will do, a sentence each. */
  readonly says: readonly string[];
  /** Whose pages come to the worker. Names with a star are not among them. */
  readonly hosts: readonly string[];
}

export interface Allowed {
  /** Files come to the worker too, or have routes without one that wrangler.toml cannot show. */
  readonly allFiles: boolean;
}

/**
 * Looks for what wrangler deploys all the same, and what then goes wrong without a word.
 *
 * @param warnings what wrangler says of the configuration
 */
export function planOf(
  config: Pick<Config, "name" | "vars" | "routes" | "route" | "workers_dev" | "cache">,
  warnings: readonly string[],
  { allFiles }: Allowed,
): Plan {
  const routes = [...(config.routes ?? []), ...(config.route === undefined ? [] : [config.route])];
  const patterns = routes.map(patternOf);
  const hosts = hostsOf(patterns);
  const faults = [
    ...warnings.map((warning) => `wrangler warns: ${warning}${isRouteAstray(warning) ? `. ${ABOVE}` : ""}`),
    ...variableFaults(config).map((fault) => (isRouteAstray(fault) ? `${fault}. ${ABOVE}` : fault)),
    ...(config.cache?.enabled === true ? [WITH_CACHE] : []),
    ...patterns.filter((pattern) => !isPattern(pattern)).map(notTaken),
    ...patterns.filter(({ isDomain }) => isDomain && config.vars["ORIGIN"] === undefined).map(withoutOrigin),
    ...(allFiles ? [] : patterns.filter((pattern) => takesAll(pattern)).map(tooWide)),
    ...(allFiles ? [] : patterns.flatMap(leadsFiles)),
    ...hosts.filter((host) => !patterns.some((pattern) => takesOwnPath(pattern, host))).map(withoutOwnPath),
  ];
  return { faults, says: saysOf(config, patterns), hosts: hosts.filter((host) => !host.includes("*")) };
}

const WITH_CACHE =
  "[cache] would send one client's Alt-Svc to all clients, as it stands in front of the worker: take it out";

const ABOVE = "Routes stand above [vars] and all other tables: move them there";

/** Whether wrangler, or we, found `route` or `routes` in a table, where they mean something else. */
function isRouteAstray(fault: string): boolean {
  return /"routes?"|^the variable routes? is unknown/.test(fault);
}

function leadsFiles(pattern: Pattern): string[] {
  const folder = filesOf(pattern);
  if (folder === undefined) return [];
  return [
    `the route ${pattern.text} leads a folder of files to the worker (${folder}), which does nothing for them, and Cloudflare bills each. ` +
      "Take it out: wrangler.toml cannot show a route without a worker. If these are pages, say --all-files",
  ];
}

function tooWide({ text, isDomain }: Pattern): string {
  if (isDomain)
    return `the custom domain ${text} leads images and files to the worker, too, and Cloudflare bills each of them: use routes, or say --all-files`;
  return (
    `the route ${text} leads images and files to the worker, too, and Cloudflare bills each of them. Name the pages ` +
    "(infra/cloudflare/routes.example.toml), or say --all-files, if folders of files have routes without a worker"
  );
}

function notTaken({ text }: Pattern): string {
  return `Cloudflare takes no route ${text}: a star may stand at the beginning of the host and at the end of the path, and there is no port and no query`;
}

function withoutOrigin({ text }: Pattern): string {
  return `${text} is a custom domain, which has no origin behind it: set ORIGIN, or use a route`;
}

function withoutOwnPath(host: string): string {
  return `no route leads ${host}${OWN_PATH}* to the worker: calls of its API and pages' reports would reach your origin`;
}

function saysOf(
  { name, vars, workers_dev: isOnWorkersDev }: Pick<Config, "name" | "vars" | "workers_dev">,
  patterns: readonly Pattern[],
): string[] {
  const named = Object.entries(vars).map(
    ([variable, value]) => `${variable}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  return [
    `This deploys the worker ${name ?? "without a name"}${named.length === 0 ? "" : `, with ${named.join(", ")}`}.`,
    ...(patterns.length === 0
      ? [
          "wrangler.toml has no route, so no visitor of a site of yours comes to it. Routes of earlier deployments stay.",
        ]
      : patterns.map(({ text }) => `Requests for ${text} come to it.`)),
    ...(vars["ACTUATOR"] === "marker"
      ? ["It answers by a marker: the zone needs the rules of `npm run policy -- marker-rule`."]
      : []),
    ...(vars["ASSETS"] === undefined
      ? []
      : [
          "It changes pages: where HTTP/2 is faster, they name files at another host (ASSETS), which must not have HTTP/3.",
        ]),
    ...(vars["BUDGET_MS"] === "0" ? ["A decision gets no time beyond the origin's own (BUDGET_MS is 0)."] : []),
    ...(isOnWorkersDev === true ? ["It is on workers.dev, too."] : []),
    "A policy that is active stays active. A new worker observes, and offers nothing.",
  ];
}

/** What wrangler warns of, without its drawing. */
export function warningsIn(output: string): string[] {
  // eslint-disable-next-line no-control-regex
  const plain = output.replaceAll(/\u001B\[[\d;]*m/g, "");
  const [, ...blocks] = plain.split(/^.*\[WARNING\] */m);
  return blocks.map((block) =>
    // A block ends where the next message or line at the margin begins.
    (/^[^\n]*(?:\n(?:[ \t]+[^\n]*)?)*/.exec(block)?.[0] ?? block).replaceAll(/\s+/g, " ").trim(),
  );
}
