/** Where pages get the reporter, and where they report. The TLS edge knows both (internal/origin/ownpath.go). */
export const REPORTER_PATH = "/_h3/v1/reporter.js";
export const REPORT_PATH = "/_h3/v1/report";
