import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { copyConfig } from "./config-file.ts";

it("nginx keeps everything in the folder that it is started with, and listens where it should", () => {
  const folder = mkdtempSync(join(tmpdir(), "h3-config-"));
  try {
    const values = { address: "127.0.0.1:8443", origin: "127.0.0.1:1234", certificates: "/certificates", cores: "2" };
    const copy = copyConfig("nginx.conf", join(folder, "nginx"), values);
    expect(dirname(copy)).toBe(join(folder, "nginx"));
    const config = readFileSync(copy, "utf8");
    expect(config).toMatch(/daemon off;\nworker_processes 2;[^]*access_log off;[^]*listen 127\.0\.0\.1:8443 ssl http2/);
    expect(config).not.toContain("{{");
    const paths = [...config.matchAll(/(?:pid|_temp_path) (\S+);/g)].map(([, path]) => path);
    expect(paths).toHaveLength(6);
    for (const path of paths) expect(path).not.toContain("/");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("fails where a value is missing", () => {
  expect(() => copyConfig("nginx.conf", tmpdir(), {})).toThrow("nginx.conf needs");
});
