import { expect, it } from "vitest";
import { nginxConfig } from "./nginx.ts";

const OPTIONS = {
  address: "127.0.0.1:8443",
  origin: "127.0.0.1:1234",
  folder: "/folder/of-its-own",
  certFile: "/folder/cert.pem",
  keyFile: "/folder/key.pem",
  isRoot: false,
};

it("keeps everything in a folder of its own, and the user to who starts it", () => {
  const config = nginxConfig(OPTIONS);
  expect(config).not.toContain("user ");
  expect(nginxConfig({ ...OPTIONS, isRoot: true })).toContain("user root;");
  for (const [, path] of config.matchAll(/(?:pid|_temp_path) (\S+);/g)) expect(path).toMatch(/^\/folder\/of-its-own\//);
  expect(config).toMatch(/daemon off;[^]*access_log off;[^]*listen 127\.0\.0\.1:8443 ssl http2/);
});
