import type { Machine } from "../model/machine.ts";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { arch, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

export function machine(): Machine {
  const { version: workerd } = createRequire(import.meta.url)("workerd/package.json") as { version: string };
  return {
    kernel: release(),
    arch: arch(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    go: printed("go", ["env", "GOVERSION"]),
    quicGo: moduleVersion("infra/edge/go.mod", "github.com/quic-go/quic-go"),
    quiche: lockedVersion("bench/instrument/quiche/Cargo.lock", "quiche"),
    k6: moduleVersion("bench/instrument/k6/go.mod", "go.k6.io/k6"),
    workerd,
    node: process.version,
    commit: commit(),
  };
}

function commit(): string {
  const head = printed("git", ["rev-parse", "--short", "HEAD"]);
  // Results are what runs write: they change no figure.
  return printed("git", ["status", "--porcelain", "--", ".", ":!bench/results"]) === "unknown" ? head : `${head}+`;
}

function printed(program: string, args: readonly string[]): string {
  return spawnSync(program, [...args], { cwd: ROOT, encoding: "utf8" }).stdout?.trim() || "unknown";
}

function lockedVersion(file: string, crate: string): string {
  return (
    new RegExp(`name = "${crate}"\nversion = "([^"]+)"`).exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? "unknown"
  );
}

function moduleVersion(file: string, module: string): string {
  const text = readFileSync(join(ROOT, file), "utf8");
  return new RegExp(`${module.replaceAll(".", "\\.")} (v\\S+)`).exec(text)?.[1] ?? "unknown";
}
