// What a caller can do next with a reply, as OpenAPI Links (OAS 3.1 section 4.8.20). An ETag is the If-Match of the next
// change; a version can be shown, compared and activated.

function link(operationId: string, description: string, parameters: Readonly<Record<string, string | number>>) {
  return { operationId, description, parameters };
}
const VERSION = { "path.version": "$response.body#/version" };
const IF_MATCH = { "header.if-match": "$response.header.ETag" };
const IF_NONE_MATCH = { "header.if-none-match": "$response.header.ETag" };

/** From a reply with a version and its number. */
export const fromVersion = {
  show: link("getPolicy", "The version", VERSION),
  showIfChanged: link("getPolicy", "Always 304, as versions are immutable", { ...VERSION, ...IF_NONE_MATCH }),
  compare: link("diffPolicies", "How it differs from version 0", {
    "path.version": 0,
    "path.other": "$response.body#/version",
  }),
  activate: {
    ...link("putActivation", "For everyone", { "header.if-match": "*" }),
    requestBody: { everyone: "$response.body#/version" },
  },
};

/** From a page to the next. */
export const nextPage = (operationId: string) =>
  link(operationId, "Older entries", { "query.before": "$response.body#/next" });

/** From a page of versions. */
export const fromVersions = {
  create: link("createPolicy", "Only if nobody has added a version meanwhile", IF_MATCH),
  showNewest: link("getPolicy", "The newest version", { "path.version": "$response.body#/policies/0/version" }),
  nextPage: nextPage("listPolicies"),
};

/** From the activation in force. */
export const fromActivation = {
  put: link("putActivation", "Only if nobody has changed it meanwhile", IF_MATCH),
  rollBack: link("rollBack", "Return to the activation before", IF_MATCH),
  kill: link("putKillSwitch", "Stop offering HTTP/3", IF_MATCH),
  unkill: link("deleteKillSwitch", "Obey the policy again", IF_MATCH),
  showPolicy: link("getPolicy", "The version for everyone", { "path.version": "$response.body#/everyone" }),
  showIfChanged: link("getActivation", "Only if it has changed meanwhile, else 304", IF_NONE_MATCH),
};

const OF_VERSION = { "query.version": "$response.body#/version" };

/** From results of a version. */
export const fromResults = {
  propose: link("getProposal", "What they propose", OF_VERSION),
  showPolicy: link("getPolicy", "The version", VERSION),
};

/** From a proposal. */
export const fromProposal = {
  results: link("getResults", "What it rests on", OF_VERSION),
};
