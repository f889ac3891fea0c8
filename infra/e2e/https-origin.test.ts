// Only here: workerd and the edge trust the same authorities, and say why not.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { expect, it, onTestFinished, vi } from "vitest";
import { fixed, probe, startTestSystem, testFolder, type TestSystem, until } from "./harness.ts";

interface Authority {
  readonly caFile: string;
  /** A certificate of this authority, with its key. */
  readonly issue: (name: string) => { cert: string; key: string };
}

function makeAuthority(): Authority {
  const folder = testFolder();
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): unknown => execFileSync("openssl", args, { stdio: "pipe" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", file("ca.key"), "-out", file("ca.pem"), "-days", "2", "-subj", "/CN=CA");
  return {
    caFile: file("ca.pem"),
    issue: (name) => {
      const own = ["-keyout", file("key.pem"), "-out", file("cert.pem"), "-days", "2", "-subj", "/CN=origin"];
      const by = ["-CA", file("ca.pem"), "-CAkey", file("ca.key"), "-addext", `subjectAltName=DNS:${name}`];
      openssl("req", "-x509", ...key, ...own, ...by, "-addext", "basicConstraints=critical,CA:FALSE");
      return { cert: readFileSync(file("cert.pem"), "utf8"), key: readFileSync(file("key.pem"), "utf8") };
    },
  };
}

/** Starts an origin that repeats what is posted to it, as https://localhost:PORT. */
async function startHttpsOrigin(certificate: { cert: string; key: string }): Promise<string> {
  const server = createServer(certificate, (incoming, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    void text(incoming).then((body) => response.end(`${incoming.method} ${body}`));
  });
  server.listen(0, "localhost");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

async function edgeHealth({ healthSocket }: TestSystem): Promise<{ status: number | undefined; body: object }> {
  const asked = request({ socketPath: healthSocket, path: "/health", headers: { host: "localhost" } }).end();
  const [response] = await once(asked, "response");
  return { status: response.statusCode, body: (await json(response)) as object };
}

/** Posts through the edge, which asks the origin itself. */
async function post({ port, stateDir }: TestSystem): Promise<string> {
  const { request: requestTls } = await import("node:https");
  const ca = readFileSync(join(stateDir, "dev-cert.pem"));
  const asked = requestTls({ host: "localhost", port, ca, method: "POST", agent: false }).end("order");
  const [response] = await once(asked, "response");
  return `${response.statusCode} ${await text(response)}`;
}

const page = async (system: TestSystem): ReturnType<typeof probe> =>
  probe(system, "h2", [`https://localhost:${system.port}/`], ["-header", "Accept: text/html"]);

it("pages of an https origin come through the worker, which decides, where its CA is trusted", async () => {
  const { caFile, issue } = makeAuthority();
  vi.stubEnv("SSL_CERT_FILE", caFile);
  onTestFinished(() => void vi.unstubAllEnvs());
  const system = await startTestSystem({ origin: await startHttpsOrigin(issue("localhost")) });
  await system.putPolicy(fixed("fixed-h3"));
  const [load] = await page(system);
  expect([load?.status, load?.headers["Alt-Svc"]]).toEqual([200, [`h3=":${system.port}"; ma=60`]]);
  expect(await post(system)).toBe("200 POST order");
  expect(await edgeHealth(system)).toMatchObject({ status: 200, body: { problems: [], worker: { passedBy: 0 } } });

  // The edge trusts the same certificate while the worker is gone.
  process.kill(system.workerd.pid(), "SIGKILL");
  const [alone] = await page(system);
  expect([alone?.status, alone?.headers["Alt-Svc"]]).toEqual([200, undefined]);
  await until("the edge counts it", async () => {
    const { status, body } = await edgeHealth(system);
    return status === 503 && (body as { worker: { passedBy: number } }).worker.passedBy >= 1 ? true : undefined;
  });
});

it.each([
  ["of a CA that is not trusted", false, "localhost"],
  ["for another name", true, "other.test"],
])("a certificate %s: nothing passes, and the log and both programs say why", async (_, isTrusted, name) => {
  const trusted = makeAuthority();
  vi.stubEnv("SSL_CERT_FILE", trusted.caFile);
  onTestFinished(() => void vi.unstubAllEnvs());
  const origin = await startHttpsOrigin((isTrusted ? trusted : makeAuthority()).issue(name));
  const lines: string[] = [];
  const system = await startTestSystem({ origin, onErrorLine: (line) => lines.push(line) });
  const { host } = new URL(origin);
  const atStart = new RegExp(`edge: origin: no TLS with the origin ${host}: .*certificate`);
  await until("the edge's line at its start", () => lines.find((line) => atStart.test(line)));
  expect((await page(system))[0]?.status).toBe(502);
  expect(await post(system)).toMatch(/^502 /);
  await until("workerd's line", () =>
    lines.find((line) => /TLS handshake failed: invalid peer certificate/.test(line)),
  );
  expect(await edgeHealth(system)).toMatchObject({
    status: 503,
    body: { problems: [expect.stringMatching(/^no TLS with the origin .*certificate/)], worker: { ok: true } },
  });
});
