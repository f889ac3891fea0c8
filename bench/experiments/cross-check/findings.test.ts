import { crossCheckValues } from "./findings.ts";
import { expect, it } from "vitest";
import type { Machine } from "../../model/machine.ts";
import { reportText } from "../../harness/results.ts";
import { NETWORK_NAMES, settingsOf } from "./settings.ts";
import { exampleRow } from "./testing.ts";
import { findingOf } from "./verdict.ts";

const machine: Machine = {
  kernel: "6.1",
  arch: "x64",
  cpu: "a CPU",
  cores: 2,
  memoryGiB: 4,
  go: "go1.26",
  quicGo: "v0.65.0",
  k6: "v1.8.1",
  workerd: "1",
  node: "v24",
  commit: "abc",
};

it("shows every finding, and what could not be found", () => {
  const rows = [500, 501, 502].flatMap((loadMs) => [
    exampleRow({ loadMs }),
    exampleRow({ loadMs: loadMs * 1.2, client: "theirs" }),
  ]);
  const text = reportText("cross-check", {
    values: crossCheckValues({
      command: "npm run bench -- cross-check --quick",
      theirAckDelayMs: 0,
      settings: settingsOf({ quick: true, networks: NETWORK_NAMES }),
      findings: [findingOf("near", "h2", rows, 1), findingOf("near", "h3", rows, 1)],
      machine,
      python: { python: "3.11", aioquic: "1.7", h2: "4.4", openssl: "OpenSSL 3" },
    }),
  });
  expect(text).toContain("`npm run bench -- cross-check --quick`");
  expect(text).toMatch(/\| near +\| +h2 \| 3 \/ 3 \| 501 \(\d+ to \d+\) \| 601 .* \| differs \|/);
  expect(text).toMatch(/\| near +\| +h3 \| 0 \/ 0 \| +- \| +- \| +- \| +short \|/);
  expect(text).toContain("acknowledges QUIC packets after 0 ms");
  expect(text).not.toMatch(/NaN|undefined|Infinity/);
});
