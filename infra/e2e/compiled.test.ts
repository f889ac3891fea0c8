import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ROOT } from "../../base/root.ts";
import { INITIAL_POLICY, type Policy } from "../../policy-api/decision/policy.ts";
import { compiled } from "../../policy-api/decision/compiled/targets.ts";
import { freePort, untilListens } from "../workerd/listening.ts";
import { startProgram } from "../workerd/processes.ts";
import { requireProxies } from "./decision-examples.ts";
import { testFolder } from "./harness.ts";

// Only here: what `policy compile` writes, and the lines of docs/examples/README.md, run in the real servers. On the loopback every RTT is far below a second, and above 0.

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
  const lines = {
    inHttp: compiled(policy, "nginx"),
    inServer: "proxy_hide_header Alt-Svc; add_header Alt-Svc $h3_offer;",
  };
  const port = await startNginx(lines);
  expect(await altSvcsOf(port)).toEqual({ page: altSvc, image: null });
});

it.each(POLICIES)("HAProxy: a policy that %s", async (_, policy, altSvc) => {
  const port = await startHaproxy(compiled(policy, "haproxy"));
  expect(await altSvcsOf(port)).toEqual({ page: altSvc, image: null });
});

it.each(["nginx", "HAProxy"])(
  "%s: the lines of docs/examples say clear for one host, and offer the outer port",
  async (name) => {
    const [inHttp = "", inServer = ""] = blocksOf("nginx");
    const [inFrontend = ""] = blocksOf("haproxy");
    const port = await (name === "nginx" ? startNginx({ inHttp, inServer }) : startHaproxy(inFrontend));
    for (const [host, altSvc] of [
      ["www.example.com:8443", 'h3=":443"; ma=86400'],
      ["files.example.com", "clear"],
      ["FILES.example.com:8443", "clear"],
    ] as const) {
      const asked = get({ host: "127.0.0.1", port, headers: { host } });
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      response.resume();
      await once(response, "end");
      expect([host, response.headers["alt-svc"]]).toEqual([host, altSvc]);
    }
  },
);

/** The blocks of docs/examples/README.md in a language. */
function blocksOf(language: string): readonly string[] {
  const page = readFileSync(join(ROOT, "docs/examples/README.md"), "utf8");
  const blocks = page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"));
  return [...blocks].map(([, block = ""]) => block);
}

/** In front of an origin, with lines of its own. */
async function startNginx({
  inHttp,
  inServer,
}: {
  readonly inHttp: string;
  readonly inServer: string;
}): Promise<number> {
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
${inHttp}
  server {
    listen 127.0.0.1:${port};
    ${inServer}
    location / { proxy_pass http://127.0.0.1:${origin}; }
  }
}
`,
  );
  await start(requireProxies().nginx, ["-e", "stderr", "-p", folder, "-c", config], port);
  return port;
}

/** In front of an origin, with lines of its own in the frontend. */
async function startHaproxy(inFrontend: string): Promise<number> {
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
${inFrontend.replaceAll(/^/gm, "  ")}
backend site
  server origin 127.0.0.1:${origin}
`,
  );
  await start(requireProxies().haproxy, ["-db", "-f", config], port);
  return port;
}

/** Starts a server, which ends with the test. */
async function start(program: string, args: readonly string[], port: number): Promise<void> {
  const said: string[] = [];
  const running = startProgram(program, { args, onLine: () => undefined, onErrorLine: (line) => said.push(line) });
  onTestFinished(() => running.stop("SIGKILL"));
  const ended = running.ended.then((why) => {
    throw new Error(`${program} ended (${why}): ${said.join("\n")}`);
  });
  ended.catch(() => undefined); // at the end of the test it is to end
  await Promise.race([untilListens(program, `127.0.0.1:${port}`), ended]);
}

/** What a server says on a page and on an image. */
async function altSvcsOf(port: number): Promise<{ readonly page: string | null; readonly image: string | null }> {
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
