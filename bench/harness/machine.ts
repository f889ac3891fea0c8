import type { Machine } from "../model/machine.ts";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { ROOT } from "../../base/root.ts";

export function machine(): Machine {
  return {
    kernel: release(),
    arch: arch(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    go: printed("go", ["env", "GOVERSION"]),
    quicGo: versionIn("infra/edge/go.mod", /github\.com\/quic-go\/quic-go (v\S+)/),
    quiche: versionIn("bench/instrument/quiche/Cargo.lock", /name = "quiche"\nversion = "([^"]+)"/),
    k6: versionIn("bench/instrument/k6/go.mod", /go\.k6\.io\/k6 (v\S+)/),
    workerd: versionIn("node_modules/workerd/package.json", /"version": "([^"]+)"/),
    node: process.version,
    commit: commit(),
  };
}

/** The commit, with "+" where files differ from it. */
function commit(): string {
  const head = printed("git", ["rev-parse", "--short", "HEAD"]);
  // Results are what runs write: they change no figure.
  return printed("git", ["status", "--porcelain", "--", ".", ":!bench/results"]) === "unknown" ? head : `${head}+`;
}

function printed(program: string, args: readonly string[]): string {
  return spawnSync(program, [...args], { cwd: ROOT, encoding: "utf8" }).stdout?.trim() || "unknown";
}

function versionIn(file: string, pattern: RegExp): string {
  return pattern.exec(readFileSync(join(ROOT, file), "utf8"))?.[1] ?? "unknown";
}
