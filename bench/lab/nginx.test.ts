import { expect, it } from "vitest";
import { nginxConfig } from "./nginx.ts";

it("keeps everything in the folder that it is started with, and listens where it should", () => {
  const values = { address: "127.0.0.1:8443", origin: "127.0.0.1:1234", certificates: "/certificates" };
  // Without what its comments say.
  const config = nginxConfig(values).replaceAll(/^#.*\n/gm, "");
  expect(config).toMatch(/daemon off;[^]*access_log off;[^]*listen 127\.0\.0\.1:8443 ssl http2/);
  expect(config).not.toContain("{{");
  const paths = [...config.matchAll(/(?:pid|_temp_path) (\S+);/g)].map(([, path]) => path);
  expect(paths).toHaveLength(6);
  for (const path of paths) expect(path).not.toContain("/");
});
