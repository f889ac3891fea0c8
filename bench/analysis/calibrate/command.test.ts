import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ROOT } from "../../../base/root.ts";
import { LOSS_NODES } from "../../../policy-api/decision/loss-nodes.ts";
import { type GainsMethod, parsePolicy, type Policy } from "../../../policy-api/decision/policy.ts";
import type { Arm } from "../../model/arm.ts";
import type { Congestion } from "../../model/congestion.ts";
import { LOAD_ROW, type LoadRow } from "../../model/load-row.ts";
import { type Start, STARTS_FILE } from "../../model/recorded-run.ts";
import type { RowOf } from "../../model/row-schema.ts";
import { EXAMPLE_MACHINE } from "../../model/testing-machine.ts";
import { csvOf, exampleRow } from "../../model/testing.ts";
import { calibrateCommand } from "./command.ts";
import { OFFERED_PAGE } from "./price.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "h3-calibrate-"));
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

const RTT_MS = 30;

/** Three visits of one sender at each loss that is counted; HTTP/3 takes half the time. */
function visitsOf(arm: Arm, congestion: Congestion = "cubic"): LoadRow[] {
  const pageMs = arm === "bare" ? 200 : 100;
  return LOSS_NODES.flatMap((lossRatio) =>
    [1, 2, 3].map((round) =>
      exampleRow({
        id: `${lossRatio}/${arm}/${congestion}/${round}`,
        arm,
        congestion,
        flow: "visit",
        delayMs: RTT_MS / 2,
        lossRatio,
        imageBytes: 1e6,
        handshakeMs: 50,
        pagesMs: `${pageMs + 50};${pageMs}`,
      }),
    ),
  );
}

/** First pages on two paths, the second of which loses packets. They take a tenth longer with an offer, there twice as long. */
function offers(): RowOf<typeof OFFERED_PAGE>[] {
  const page = (network: string, treatment: string, loadMs: number | null, number = 1) => ({
    network,
    treatment,
    page: number,
    loadMs,
  });
  return [0, 1].flatMap(() => [
    page("30 ms", "never", 100),
    page("30 ms", "first", 110),
    page("30 ms, 1 % lost", "never", 100),
    page("30 ms, 1 % lost", "first", 200),
    // Neither a later page, nor another treatment, nor a page that did not load.
    page("30 ms", "first", 500, 2),
    page("30 ms", "second", 500),
    page("30 ms", "first, 0.5 s", 500),
    page("30 ms", "never", null),
  ]);
}

const START: Start = {
  at: "2026-01-01T00:00:00Z",
  lanes: 1,
  rowsBefore: 0,
  machine: { ...EXAMPLE_MACHINE, go: "go1.26", quicGo: "v0.65.0", kernel: "6.1", quiche: "0.30.0" },
};

function record(name: string, rows: string): string {
  const at = join(folder, name);
  mkdirSync(at);
  writeFileSync(join(at, "rows.csv"), rows);
  writeFileSync(join(at, STARTS_FILE), JSON.stringify([START]));
  return at;
}

/** Runs the command on these rows, with its results in the test's folder. */
async function calibrated(rows: readonly LoadRow[]): Promise<string> {
  const [from, prices] = [record("senders", csvOf(rows, LOAD_ROW)), record("offers", csvOf(offers(), OFFERED_PAGE))];
  await calibrateCommand(["--from", from, "--offers", prices, "--policies", join(folder, "policies")]);
  return from;
}

function policyIn(file: string, from = join(folder, "policies")): Policy {
  const parsed = parsePolicy(JSON.parse(readFileSync(join(from, file), "utf8")));
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

describe("calibrate", () => {
  it("makes a policy for each pair of senders, of their rows alone, and says where it comes from", async () => {
    const from = await calibrated([...visitsOf("bare"), ...visitsOf("bare", "bbr"), ...visitsOf("bare-h3")]);
    for (const congestion of ["cubic", "bbr"]) {
      const { method, provenance } = policyIn(`${congestion}.json`);
      const { table } = method as GainsMethod;
      const [size, rtt, much] = [
        table.contentBytes.indexOf(1e6),
        table.rttMs.indexOf(RTT_MS),
        table.lossRatio.indexOf(0.02),
      ];
      // At the place that was measured, and where much is lost: 66 % of ln 2, and 34 % of ln (200 / 150) after a long pause.
      for (const loss of [0, much]) expect(table.next.gain[size]?.[loss]?.[rtt]).toBeCloseTo(0.555, 1);
      for (const loss of [0, much]) expect(table.return.gain[size]?.[loss]?.[rtt]).toBeCloseTo(Math.log(250 / 150), 2);
      expect(provenance).toMatchObject({
        stack: "Go 1.26 net/http over Linux 6.1 TCP, quic-go v0.65.0",
        congestionControl: congestion,
        quic: "quic-go",
        rowsSha256: createHash("sha256")
          .update(readFileSync(join(from, "rows.csv")))
          .digest("hex"),
        loads: 2 * 3 * LOSS_NODES.length,
        cells: LOSS_NODES.length,
      });
      expect(provenance?.command).toContain("npm run bench -- calibrate --from");
    }
  });

  it("takes the price of an offer from first pages on paths without loss", async () => {
    await calibrated([...visitsOf("bare"), ...visitsOf("bare-h3")]);
    const { price } = (policyIn("cubic.json").method as GainsMethod).table;
    expect(new Set(price)).toEqual(new Set([Number(Math.log(1.1).toFixed(3))]));
  });

  it("has a folder for each other QUIC", async () => {
    await calibrated([...visitsOf("bare"), ...visitsOf("quiche-bbr2")]);
    const { provenance } = policyIn("quiche-bbr2/cubic.json");
    expect(provenance?.stack).toContain("quiche 0.30.0 (bbr2)");
    expect(provenance?.quic).toBe("quiche-bbr2");
    expect(existsSync(join(folder, "policies/cubic.json"))).toBe(false);
  });

  it("makes no policy of a run that has not ended, and names what it lacks", async () => {
    const rows = [...visitsOf("bare"), ...visitsOf("bare-h3").filter(({ lossRatio }) => lossRatio !== 0.002)];
    await expect(calibrated(rows)).rejects.toThrow(
      "have too few loads: let `senders` run to its end. Missing: 1000000 bytes, 0.2 %, 30 ms.",
    );
    expect(existsSync(join(folder, "policies/cubic.json"))).toBe(false);
  });

  it("says so where no two senders were measured together", async () => {
    await expect(calibrated(visitsOf("bare"))).rejects.toThrow("No cell of");
  });
});

// Whoever has the rows can make the shipped policies again.
it("the policies in policy-api/policies are what the recorded rows say", async () => {
  const browsers = "bench/results/browser-clients-calibration,bench/results/browser-clients-calibration-2";
  await calibrateCommand(["--browsers", browsers, "--policies", join(folder, "policies")]);
  const names = ["", "quiche-cubic/", "quiche-bbr2/"].flatMap((quic) => ["cubic", "bbr"].map((tcp) => quic + tcp));
  for (const name of names) {
    const { provenance, ...policy } = policyIn(`${name}.json`);
    const shipped = policyIn(`${name}.json`, join(ROOT, "policy-api/policies"));
    const { command: _, ...source } = provenance ?? { command: "" };
    expect(shipped).toMatchObject({ ...policy, provenance: source });
  }
});
