import { request } from "node:http";
import { text } from "node:stream/consumers";
import { type TestSystem, TOKEN } from "./harness.ts";

/** What Prometheus would read of the worker. */
export async function metricsOf({ workerd }: Pick<TestSystem, "workerd">): Promise<string> {
  const headers = { host: "site.test", authorization: `Bearer ${TOKEN}` };
  return new Promise((resolve, reject) => {
    request({ socketPath: workerd.visitorsSocket, path: "/_h3/v1/metrics", headers }, (answer) => {
      text(answer).then(resolve, reject);
    })
      .on("error", reject)
      .end();
  });
}
