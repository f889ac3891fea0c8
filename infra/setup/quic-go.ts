import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { ROOT } from "../../base/root.ts";
import { UserError } from "../../base/user-error.ts";
import { runBuild } from "./programs.ts";

const EDGE = join(ROOT, "infra/edge");
const MODULE = "github.com/quic-go/quic-go";
const SLOW_START = "internal/slowstart/slowstart.go";
const SENDER = "internal/congestion/cubic_sender.go";

type Edit = readonly [from: string, to: string];

/** What calls our slow start in place of quic-go's: each text is there once. */
const SENDER_EDITS: readonly Edit[] = [
  [`"${MODULE}/internal/protocol"\n`, `"${MODULE}/internal/protocol"\n\t"${MODULE}/internal/slowstart"\n`],
  ["hybridSlowStart HybridSlowStart\n", "hybridSlowStart slowstart.HyStart\n"],
  ["hybridSlowStart.OnPacketSent(packetNumber)", "hybridSlowStart.OnPacketSent(int64(packetNumber))"],
  ["hybridSlowStart.OnPacketAcked(ackedPacketNumber)", "hybridSlowStart.OnPacketAcked(int64(ackedPacketNumber))"],
  [
    "ShouldExitSlowStart(c.rttStats.LatestRTT(), c.rttStats.MinRTT(), c.GetCongestionWindow()/c.maxDatagramSize)",
    "ShouldExitSlowStart(c.rttStats.LatestRTT())",
  ],
  [
    "\t\tc.congestionWindow += c.maxDatagramSize\n\t\tc.maybeQlogStateChange(qlog.CongestionStateSlowStart)",
    "\t\tc.congestionWindow += protocol.ByteCount(c.hybridSlowStart.Growth(int64(c.maxDatagramSize)))\n" +
      "\t\tc.maybeQlogStateChange(qlog.CongestionStateSlowStart)",
  ],
  [
    "\tc.largestSentPacketNumber = packetNumber\n",
    "\tif c.connStats.Restart.CompareAndSwap(true, false) {\n\t\twindow := c.congestionWindow\n\t\tc.OnConnectionMigration()\n" +
      "\t\tc.congestionWindow = max(c.congestionWindow, window)\n\t\tc.connStats.CongestionWindow.Store(uint64(c.congestionWindow))\n\t}\n" +
      "\tc.largestSentPacketNumber = packetNumber\n",
  ],
];

/** What changes in quic-go, by file: its slow start, and a connection can begin slow start anew with its next packet. */
export const EDITS: Readonly<Record<string, readonly Edit[]>> = {
  [SENDER]: SENDER_EDITS,
  "internal/utils/connstats.go": [
    ["\tCongestionWindow atomic.Uint64\n", "\tCongestionWindow atomic.Uint64\n\tRestart          atomic.Bool\n"],
  ],
  "connection.go": [
    [
      "// Time when the connection should time out\n",
      "// Restart begins slow start anew with the next packet, in the window of a new connection or a larger one that is there.\nfunc (c *Conn) Restart() { c.connStats.Restart.Store(true) }\n\n" +
        "// Time when the connection should time out\n",
    ],
  ],
};

/**
 * A file of quic-go, edited.
 *
 * @throws UserError where quic-go has changed
 */
export function edited(file: string, original: string): string {
  return (EDITS[file] ?? []).reduce((text, [from, to]) => {
    if (text.split(from).length !== 2)
      throw new UserError(
        `quic-go's ${file} has no single ${JSON.stringify(from)}: look at infra/setup/quic-go.ts after a change of its version.`,
      );
    return text.replace(from, () => to);
  }, original);
}

/**
 * Makes a copy of the edge's quic-go that ends slow start as `infra/edge/internal/slowstart` says, and can begin it anew, in `dist`.
 *
 * @returns the flag that has Go build the edge with it
 * @throws UserError
 */
export async function slowStartFlag(go: string): Promise<string> {
  const downloaded = await runBuild(go, ["mod", "download", "-json", MODULE], EDGE);
  const { Dir: original, Version: version } = JSON.parse(downloaded) as { Dir: string; Version: string };
  const slowStart = readFileSync(join(EDGE, SLOW_START), "utf8");
  const manifest = readFileSync(join(EDGE, "go.mod"), "utf8");
  const sums = readFileSync(join(EDGE, "go.sum"), "utf8");
  const hash = createHash("sha256");
  const own = readFileSync(import.meta.filename, "utf8");
  for (const part of [version, slowStart, manifest, sums, own]) hash.update(part).update("\0");
  // Whoever builds at the same time finds a whole folder or none.
  const folder = join(ROOT, "dist", `quic-go-${hash.digest("hex").slice(0, 12)}`);
  if (!existsSync(folder)) {
    mkdirSync(join(ROOT, "dist"), { recursive: true });
    const made = mkdtempSync(join(ROOT, "dist/quic-go-"));
    try {
      const copy = join(made, "quic-go");
      for (const path of readdirSync(original, { recursive: true, encoding: "utf8" })) {
        if (!/(?<!_test)\.go$|^go\.mod$|^LICENSE$/.test(path)) continue;
        mkdirSync(dirname(join(copy, path)), { recursive: true });
        writeFileSync(join(copy, path), edited(path, readFileSync(join(original, path), "utf8"))); // the original may be read-only
      }
      mkdirSync(join(copy, "internal/slowstart"));
      writeFileSync(join(copy, SLOW_START), slowStart);
      writeFileSync(
        join(made, "go.mod"),
        `${manifest}\nreplace ${MODULE} => ${relative(EDGE, join(folder, "quic-go"))}\n`,
      );
      writeFileSync(join(made, "go.sum"), sums);
      chmodSync(made, 0o755); // as what is in it: others build here too
      renameSync(made, folder);
    } catch (error) {
      rmSync(made, { recursive: true, force: true });
      if (!existsSync(folder)) throw error;
    }
  }
  return `-modfile=${join(folder, "go.mod")}`;
}
