import { expect, it } from "vitest";
import { nginxConfig } from "./nginx.ts";

const VALUES = { address: "127.0.0.1:8443", origin: "127.0.0.1:1234", certificates: "/certificates" };
/** Without what its comments say. */
const configOf = (njs: string | undefined): string => nginxConfig({ ...VALUES, njs }).replaceAll(/^#.*\n/gm, "");

it("keeps everything in the folder that it is started with, and listens where it should", () => {
  const config = configOf(undefined);
  expect(config).toMatch(/daemon off;[^]*access_log off;[^]*listen 127\.0\.0\.1:8443 ssl http2/);
  expect(config).not.toMatch(/\{\{|js_|Alt-Svc/);
  const paths = [...config.matchAll(/(?:pid|_temp_path) (\S+);/g)].map(([, path]) => path);
  expect(paths).toHaveLength(6);
  for (const path of paths) expect(path).not.toContain("/");
});

it("is the same but for njs, where that decides on pages", () => {
  const plain = new Set(configOf(undefined).split("\n"));
  const config = configOf("/module.so");
  const lines = config.split("\n").filter((line) => !plain.has(line));
  expect(lines.map((line) => line.trim())).toEqual([
    "load_module /module.so;",
    expect.stringMatching(/^js_import decide from ".*\/nginx-decide\.js"; js_set \$decided_alt_svc decide\.altSvc;$/),
    "proxy_hide_header Alt-Svc; add_header Alt-Svc $decided_alt_svc;",
  ]);
  // nginx refuses it below.
  expect(config.indexOf("load_module")).toBeLessThan(config.indexOf("events"));
});
