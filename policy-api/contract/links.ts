// What a reply is good for next, as OpenAPI Links (OAS 3.1 section 4.8.20): an ETag in a reply is the If-Match of the next
// change; a version in a reply is a version to show, to compare and to activate.

type Parameters = Readonly<Record<string, string | number>>;
const link = (operationId: string, description: string, parameters: Parameters) => ({
  operationId,
  description,
  parameters,
});
const VERSION = { "path.version": "$response.body#/version" };
const IF_MATCH = { "header.if-match": "$response.header.ETag" };
const IF_NONE_MATCH = { "header.if-none-match": "$response.header.ETag" };

/** From a reply with a version and its number. */
export const fromVersion = {
  show: link("getPolicy", "The version", VERSION),
  showIfChanged: link("getPolicy", "Never, as versions are immutable: 304", { ...VERSION, ...IF_NONE_MATCH }),
  compare: link("diffPolicies", "In what it differs from what a store has at first", {
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
  link(operationId, "What is older", { "query.before": "$response.body#/next" });

/** From a page of versions. */
export const fromVersions = {
  create: link("createPolicy", "Only if nobody has added one meanwhile", IF_MATCH),
  showNewest: link("getPolicy", "The newest", { "path.version": "$response.body#/policies/0/version" }),
  nextPage: nextPage("listPolicies"),
};

/** From the activation in force, shown or just changed. */
export const fromActivation = {
  put: link("putActivation", "Only if nobody has changed it meanwhile", IF_MATCH),
  rollBack: link("rollBack", "To what was in force before it", IF_MATCH),
  kill: link("putKillSwitch", "Stop offering HTTP/3", IF_MATCH),
  unkill: link("deleteKillSwitch", "Obey the policy again", IF_MATCH),
  showPolicy: link("getPolicy", "The version that is for everyone", { "path.version": "$response.body#/everyone" }),
  showIfChanged: link("getActivation", "Only if it has changed meanwhile, else 304", IF_NONE_MATCH),
};
