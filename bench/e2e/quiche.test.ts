import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../base/root.ts";
import { buildQuiche } from "../lab/programs.ts";
import { bench, killedAt, leftBy, report, rows, succeeded, useRuns } from "./runs.ts";

// The second QUIC server, by its own tests and in every experiment that it is part of. Its build takes minutes, so
// `npm run test:quiche` runs these apart.

/** With the build of quiche, and of BoringSSL in it, the first time. */
const WITH_QUICHE_MS = 1_800_000;

useRuns();

it(
  "the server on quiche passes its tests",
  async () => {
    await buildQuiche();
    const options = ["--release", "--locked", "--quiet", "--target-dir", join(ROOT, "dist/cargo")];
    const output = execFileSync("cargo", ["test", ...options], {
      cwd: join(ROOT, "bench/instrument/quiche"),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
    expect(output).toMatch(/test result: ok\. [1-9]\d* passed/);
  },
  WITH_QUICHE_MS,
);

it(
  "stacks: a server on quiche beside quic-go, and its samples, also after kill -9",
  async () => {
    await buildQuiche();
    const options = ["stacks", "--quick", "--lanes", "2"];
    const killed = await killedAt(3, bench(...options));
    await succeeded(bench(...options));
    for (const arm of ["fixed-h2", "fixed-h3", "quiche-cubic", "quiche-bbr2"]) {
      const own = rows().filter((row) => row.arm === arm && row.outcome === "ok");
      expect(own.length, arm).toBeGreaterThanOrEqual(5);
      expect(new Set(own.map(({ lastProtocol }) => lastProtocol)), arm).toEqual(
        new Set([arm === "fixed-h2" ? "h2" : "h3"]),
      );
      // What the sender counted, whoever it is.
      const sent = own.map((row) => Number(arm === "fixed-h2" ? row.tcpPacketsSent : row.quicPacketsSent));
      expect(Math.min(...sent), arm).toBeGreaterThan(60);
    }
    expect(report().pictures).toEqual(expect.arrayContaining(["ratio-cubic.svg", "ratio-bbr.svg"]));
    expect(await leftBy(killed)).toEqual([]);
  },
  WITH_QUICHE_MS,
);

it(
  "fairness: each newcomer beside a flow of cubic",
  async () => {
    await buildQuiche();
    await succeeded(bench("fairness", "--quick"));
    const senders = rows().map(({ sender }) => sender);
    expect(senders).toHaveLength(5);
    expect(new Set(senders)).toEqual(new Set(["cubic", "bbr", "quic-go", "quiche-cubic", "quiche-bbr2"]));
    expect(rows().filter(({ outcome }) => outcome !== "ok")).toEqual([]);
    for (const row of rows()) {
      const total = Number(row.ownMbps) + Number(row.othersMbps);
      expect(Math.min(Number(row.ownMbps), Number(row.othersMbps)), row.sender).toBeGreaterThan(0);
      // The bottleneck carries 20 Mbit/s with headers, and the machine of a test may be busy.
      expect(total, row.sender).toBeLessThan(20);
      expect(total, row.sender).toBeGreaterThan(5);
    }
    expect(report().text).toContain("QUIC quiche, BBRv2");
  },
  WITH_QUICHE_MS,
);

it(
  "levers: visits and returns by every lever of the server",
  async () => {
    await buildQuiche();
    await succeeded(bench("levers", "--quick", "--lanes", "4"));
    expect(rows().filter(({ outcome }) => outcome === "failed")).toEqual([]);
    const made = new Set(rows().map(({ cell, arm, flow }) => `${cell} ${arm} ${flow}`));
    // Of two clients, five settings of TCP and three QUIC senders.
    expect(made.size).toBe(2 * 8 * 2);
    for (const { flow, pagesMs = "" } of rows()) expect(pagesMs.split(";")).toHaveLength(flow === "return" ? 1 : 3);
    expect(report().pictures).toEqual(["levers.svg"]);
  },
  WITH_QUICHE_MS,
);

it(
  "ohashi-evaluation --quic quiche-cubic: clients of the edge's HTTP/2 switch to quiche at the same address",
  async () => {
    await buildQuiche();
    const options = ["--quick", "--quic", "quiche-cubic", "--congestion", "bbr", "--lanes", "2"];
    await succeeded(bench("ohashi-evaluation", ...options));
    const offered = rows().filter(({ arm, outcome }) => arm === "always-offer" && outcome === "ok");
    expect(offered.length).toBeGreaterThan(10);
    for (const row of offered) {
      expect(row).toMatchObject({ documentProtocol: "h2", lastProtocol: "h3", switched: "true" });
      // The edge has told of the document, quiche of the image.
      expect(Number(row.tcpPacketsSent)).toBeGreaterThan(0);
      expect(Number(row.quicPacketsSent)).toBeGreaterThan(60);
    }
    expect(report().text).toContain("quiche 0.30.0 with its cubic");
    const refused = await bench("tcp-congestion", "--quick", "--quic", "quiche-cubic", "--fresh").ended;
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toContain("--quic is for ohashi-evaluation");
  },
  WITH_QUICHE_MS,
);

it(
  "ohashi-evaluation --quic quiche-bbr2: the shipped policy decides, after what quiche and the edge have told",
  async () => {
    await buildQuiche();
    const options = ["--quick", "--quic", "quiche-bbr2", "--congestion", "cubic", "--bytes", "300000"];
    await succeeded(bench("ohashi-evaluation", ...options));
    const made = rows().filter(({ arm }) => arm === "adaptive");
    expect(made.filter(({ outcome }) => outcome !== "ok")).toEqual([]);
    for (const row of made) {
      expect(row.documentProtocol).toBe("h2");
      // The session before was the other server's, or the edge's, and the worker was told of either.
      expect(row.trainedOn).toBe(row.flow === "trained" ? "quic" : "tcp");
      expect(Number(row.trainedPacketsSent)).toBeGreaterThan(100);
      expect(row.lastProtocol).toBe(row.switched === "true" ? "h3" : "h2");
    }
    // With loss and delay its BBRv2 is several times as fast as TCP's cubic, and without either it is not: the policy knows it.
    const switchedIn = (cell: string): number => {
      const own = made.filter((row) => row.cell === cell);
      return own.filter(({ switched }) => switched === "true").length / own.length;
    };
    for (const far of ["6-cubic", "9-cubic"]) expect(switchedIn(far), far).toBeGreaterThan(0.5);
    expect(switchedIn("1-cubic")).toBeLessThan(0.5);
    expect(report().text).not.toContain("load-times-cold");
  },
  WITH_QUICHE_MS,
);
