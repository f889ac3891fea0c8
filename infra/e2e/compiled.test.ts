import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { compiled } from "../../policy-api/decision/compiled/targets.ts";
import { freePort, untilListens } from "../workerd/listening.ts";
import { startProgram } from "../workerd/processes.ts";
import { requireProxies } from "./decision-examples.ts";
import { testFolder } from "./harness.ts";

// Only here: what `policy compile` writes runs in the real servers. On the loopback every RTT is far below a second, and above 0.

const threshold = (rttMs: number): Policy => ({
  ...INITIAL_POLICY,
  mode: "adaptive",
  method: { kind: "rtt-threshold", rttMs },
});
const POLICIES: readonly (readonly [what: string, policy: Policy, altSvc: string | null])[] = [
  ["offers at every RTT that is known", threshold(0.001), 'h3=":443"; ma=60'],
  ["offers above 30 s", threshold(30_000), null],
  ["always offers", { ...INITIAL_POLICY, mode: "fixed-h3" }, 'h3=":443"; ma=3600'],
  ["never offers", { ...INITIAL_POLICY, mode: "fixed-h2" }, null],
];

it.each(POLICIES)("nginx: a policy that %s", async (_, policy, altSvc) => {
  const [port, origin] = [await freePort(), await startOrigin()];
  const folder = testFolder();
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  const config = join(folder, "nginx.conf");
  writeFileSync(
    config,
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr warn;
events {}
http {
  access_log off;
  ${temporary.join("\n  ")}
${compiled(policy, "nginx")}
  server {
    listen 127.0.0.1:${port};
    proxy_hide_header Alt-Svc;
    add_header Alt-Svc $h3_offer;
    location / { proxy_pass http://127.0.0.1:${origin}; }
  }
}
`,
  );
  const program = requireProxies().nginx;
  expect(await altSvcsOf(program, ["-e", "stderr", "-p", folder, "-c", config], port)).toEqual({
    page: altSvc,
    image: null,
  });
});

it.each(POLICIES)("HAProxy: a policy that %s", async (_, policy, altSvc) => {
  const [port, origin] = [await freePort(), await startOrigin()];
  const config = join(testFolder(), "haproxy.cfg");
  writeFileSync(
    config,
    `defaults
  mode http
  timeout client 10s
  timeout server 10s
  timeout connect 10s
frontend visitors
  bind 127.0.0.1:${port}
  default_backend site
${compiled(policy, "haproxy").replaceAll(/^/gm, "  ")}
backend site
  server origin 127.0.0.1:${origin}
`,
  );
  expect(await altSvcsOf(requireProxies().haproxy, ["-db", "-f", config], port)).toEqual({ page: altSvc, image: null });
});

/** Starts a server, asks it for a page and for an image, and ends it. */
async function altSvcsOf(
  program: string,
  args: readonly string[],
  port: number,
): Promise<{ readonly page: string | null; readonly image: string | null }> {
  const said: string[] = [];
  const running = startProgram(program, { args, onLine: () => undefined, onErrorLine: (line) => said.push(line) });
  onTestFinished(() => running.stop("SIGKILL"));
  const ended = running.ended.then((why) => {
    throw new Error(`${program} ended (${why}): ${said.join("\n")}`);
  });
  ended.catch(() => undefined); // at the end of the test it is to end
  await Promise.race([untilListens(program, `127.0.0.1:${port}`), ended]);
  const ask = async (destination: string): Promise<string | null> => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { headers: { "sec-fetch-dest": destination } });
    expect(await response.text()).toBe("page");
    return response.headers.get("alt-svc");
  };
  return { page: await ask("document"), image: await ask("image") };
}

/** An origin with an Alt-Svc of its own, which must not reach visitors. */
async function startOrigin(): Promise<number> {
  const server = createServer((_, response) => response.setHeader("alt-svc", 'h3=":1"').end("page"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
