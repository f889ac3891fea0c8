import { expect, it } from "vitest";
import { caddyConfig } from "./caddy.ts";

it("is one server without HTTP/3, admin endpoint or log of requests, before the origin", () => {
  const values = { folder: "/run", address: "127.0.0.1:8443", origin: "127.0.0.1:1234", certificates: "/certificates" };
  const text = caddyConfig(values);
  expect(text).not.toContain("{{");
  expect(JSON.parse(text)).toMatchObject({
    admin: { disabled: true },
    storage: { root: "/run" },
    apps: {
      http: {
        servers: {
          front: {
            listen: ["127.0.0.1:8443"],
            protocols: ["h1", "h2"],
            routes: [{ handle: [{ upstreams: [{ dial: "127.0.0.1:1234" }] }] }],
          },
        },
      },
      tls: { certificates: { load_files: [{ certificate: "/certificates/dev-cert.pem" }] } },
    },
  });
});
