// What a reply is good for next, as OpenAPI Links (OAS 3.1 section 4.8.20): an ETag that comes is the If-Match of the next
// change, a version that comes is one to show, to compare and to activate.

interface Link {
  readonly operationId: string;
  readonly description: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  readonly requestBody?: unknown;
}

const IF_MATCH = { "header.if-match": "$response.header.ETag" };

/** From a reply with a version and its number. */
export const fromVersion: Record<string, Link> = {
  show: {
    operationId: "getPolicy",
    description: "The version",
    parameters: { "path.version": "$response.body#/version" },
  },
  showIfChanged: {
    operationId: "getPolicy",
    description: "Never, as versions are immutable: 304",
    parameters: { "path.version": "$response.body#/version", "header.if-none-match": "$response.header.ETag" },
  },
  compare: {
    operationId: "diffPolicies",
    description: "In what it differs from what a store has at first",
    parameters: { "path.version": 0, "path.other": "$response.body#/version" },
  },
  activate: {
    operationId: "putActivation",
    description: "For everyone",
    parameters: { "header.if-match": "*" },
    requestBody: { everyone: "$response.body#/version" },
  },
};

/** From a page of versions. */
export const fromVersions: Record<string, Link> = {
  create: {
    operationId: "createPolicy",
    description: "Only if nobody has added one meanwhile",
    parameters: IF_MATCH,
  },
  showNewest: {
    operationId: "getPolicy",
    description: "The newest",
    parameters: { "path.version": "$response.body#/policies/0/version" },
  },
  nextPage: nextPage("listPolicies"),
};

/** From the activation in force, shown or just changed. */
export const fromActivation: Record<string, Link> = {
  put: { operationId: "putActivation", description: "Only if nobody has changed it meanwhile", parameters: IF_MATCH },
  rollBack: { operationId: "rollBack", description: "To what was in force before it", parameters: IF_MATCH },
  kill: { operationId: "putKillSwitch", description: "Stop offering HTTP/3", parameters: IF_MATCH },
  unkill: { operationId: "deleteKillSwitch", description: "Obey the policy again", parameters: IF_MATCH },
  showPolicy: {
    operationId: "getPolicy",
    description: "The version that is for everyone",
    parameters: { "path.version": "$response.body#/everyone" },
  },
  showIfChanged: {
    operationId: "getActivation",
    description: "Only if it has changed meanwhile, else 304",
    parameters: { "header.if-none-match": "$response.header.ETag" },
  },
};

/** From a page to the next. */
export function nextPage(operationId: string): Link {
  return {
    operationId,
    description: "What is older",
    parameters: { "query.before": "$response.body#/next" },
  };
}
