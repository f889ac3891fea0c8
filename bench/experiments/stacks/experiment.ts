import { defineLoads } from "../../harness/loads/define.ts";
import { STACKS, stacksReport, stacksSummary } from "./report.ts";
import { type Cell, NINE_NETWORKS, type PlannedLoad } from "../../model/cell.ts";
import type { LoadExperiment, LoadOptions } from "../../model/load-experiment.ts";

const SIZES = {
  quick: { bytes: 100_000, rounds: 5, networks: NINE_NETWORKS.filter(({ name }) => name === "2" || name === "5") },
  usual: { bytes: 1_000_000, rounds: 30, networks: NINE_NETWORKS },
  full: { bytes: 10_000_000, rounds: 30, networks: NINE_NETWORKS },
};

const download = (arm: PlannedLoad["arm"]): PlannedLoad => ({ arm, flow: "download" });

/** The nine published networks with a second QUIC server (ohashi-2020's first open question): how far do zero lines move? */
export function stacks({ congestions, bytes, size }: LoadOptions): LoadExperiment {
  const { bytes: usualBytes, rounds, networks } = SIZES[size];
  const cells = congestions.flatMap((congestion, index) =>
    networks.map((network): Cell => ({
      id: `${network.name}-${congestion}`,
      network,
      congestion,
      imageBytes: bytes ?? usualBytes,
      // QUIC has a congestion control of its own: the same loads stand beside every TCP.
      loads: [download("fixed-h2"), ...(index === 0 ? STACKS.map((arm) => download(arm)) : [])],
    })),
  );
  return {
    switch: "wait",
    loads: [download("fixed-h2")],
    cells,
    allocation: { first: rounds, cap: rounds, comparisons: [] },
    timeoutMs: 180_000,
    notes: [
      "A load is timed from connection setup to the last byte of one file.",
      "quiche's server (bench/instrument/quiche, on tokio-quiche) answers by itself: no edge, no worker, no origin behind it, which HTTP/2 and quic-go have: differences of a few ms, as in the network without loss and delay, may be that. It asks for no address validation by Retry, and paces to about 1 ms.",
      "quiche begins with 10 packets of 1,350 bytes, as Linux' TCP does with 10 of 1,448; quic-go with 32 of 1,280 and larger ones once it knows that they fit. In files of 1 MB that is a part of the difference.",
      "The loads of HTTP/2 with bbr stand beside loads of HTTP/3 that were made with cubic's, in the same network and the same run, one group of cells after the other.",
      size !== "full" &&
        `Files of ${(bytes ?? usualBytes) / 1e6} MB instead of the published 10 MB; \`--full\` has those.`,
    ],
  };
}

export const experiment = defineLoads({ plan: stacks, summarise: stacksSummary, report: stacksReport });
