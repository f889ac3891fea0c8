import { createServer } from "node:tls";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { lookAtCertificate } from "./doctor-certificate.ts";
import { selfSigned } from "./testing-certificate.ts";

const OWN = selfSigned();

async function startSite(): Promise<number> {
  const server = createServer({ ...OWN, ALPNProtocols: ["h2"] }, (socket) => socket.on("error", () => undefined));
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

it.each(["localhost", "127.0.0.1"])("sees whether the certificate of %s is from a root of the list", async (host) => {
  const site = new URL(`https://${host}:${await startSite()}`);
  expect(await lookAtCertificate(site)).toEqual({ isPublic: false, why: "issued by localhost" });
  expect(await lookAtCertificate(site, [OWN.cert])).toEqual({ isPublic: true, why: "issued by localhost" });
});

it("knows nothing of a certificate with another fault, or of none", async () => {
  const port = await startSite();
  const other = await lookAtCertificate(new URL(`https://[::ffff:127.0.0.1]:${port}`), [OWN.cert]);
  expect(other).toEqual({ isPublic: undefined, why: "issued by localhost; ERR_TLS_CERT_ALTNAME_INVALID" });
  const none = await lookAtCertificate(new URL("https://127.0.0.1:9"));
  expect(none).toEqual({ isPublic: undefined, why: expect.stringContaining("ECONNREFUSED") });
});
