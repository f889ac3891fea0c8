import { type Network, QUEUE_BYTES } from "../../model/cell.ts";
import type { Congestion } from "../../model/congestion.ts";

/** What a page's answer tells a browser. */
export type Answer = "h3" | "clear" | "none";

/** What a visit is told, and how its pages follow. The first four pages are of one visit, the last one is of a return. */
export interface Treatment {
  readonly name: string;
  readonly about: string;
  /** One for each page, and one for the return. */
  readonly answers: readonly Answer[];
  readonly pauseMs: number;
  /** What it is compared with: the same pauses, and nothing offered. */
  readonly base: string;
}

/** All of it that has one network and one congestion control. */
export interface Place {
  readonly network: Network;
  readonly congestion: Congestion;
  readonly treatments: readonly Treatment[];
  /** Of each treatment. */
  readonly visits: number;
}

const NEVER: readonly Answer[] = ["none", "none", "none", "none", "none"];
const FIRST: readonly Answer[] = ["h3", "h3", "h3", "h3", "h3"];

export const PAGES = NEVER.length;
/** The page of the return. */
export const RETURN = PAGES;

const PAUSE_MS = 5_000;
const usual = (name: string, about: string, answers: readonly Answer[], pauseMs = PAUSE_MS, base = "never") =>
  ({ name, about, answers, pauseMs, base }) satisfies Treatment;

export const TREATMENTS: readonly Treatment[] = [
  usual("never", "never offered", NEVER),
  usual("first", "offered from the first page on", FIRST),
  usual("second", "offered from the second page on", ["none", ...FIRST.slice(1)]),
];

/** On two of the networks. */
export const FURTHER: readonly Treatment[] = [
  usual("cleared", "offered from the first page on, and taken back on the third", [
    "h3",
    "h3",
    "clear",
    "none",
    "none",
  ]),
  usual("never, 0.5 s", "never offered, pauses of 0.5 s", NEVER, 500, "never, 0.5 s"),
  usual("first, 0.5 s", "offered from the first page on, pauses of 0.5 s", FIRST, 500, "never, 0.5 s"),
  usual("never, 40 s", "never offered, pauses of 40 s", NEVER, 40_000, "never, 40 s"),
  usual("first, 40 s", "offered from the first page on, pauses of 40 s", FIRST, 40_000, "never, 40 s"),
];

/**
 * Before a return. Chromium ends a QUIC connection that has rested for 30 s; its TCP connections, which it keeps for minutes, are
 * ended from outside.
 */
export const AWAY_MS = 35_000;

function network(rttMs: number, lossRatio = 0): Network {
  const name = `${rttMs} ms${lossRatio > 0 ? `, ${lossRatio * 100} % lost` : ""}`;
  return { name, rateMbps: 50, delayMs: rttMs / 2, lossRatio, queueBytes: QUEUE_BYTES };
}

/** @param quick whether it works, with short pauses and without the wait before a return */
export function placesOf(visits: number, quick: boolean): readonly Place[] {
  if (quick) {
    const cleared = FURTHER.filter(({ name }) => name === "cleared");
    return [
      { network: network(2), congestion: "cubic", treatments: [...TREATMENTS, ...cleared].map(hurried), visits: 1 },
    ];
  }
  const all = [
    network(2),
    network(30),
    network(80),
    network(150),
    network(250),
    network(30, 0.01),
    network(80, 0.01),
    network(150, 0.01),
  ];
  const withFurther = new Set(["30 ms", "150 ms"]);
  return all.flatMap((one) =>
    (["cubic", "bbr"] as const).map((congestion) => ({
      network: one,
      congestion,
      treatments: withFurther.has(one.name) ? [...TREATMENTS, ...FURTHER] : TREATMENTS,
      visits,
    })),
  );
}

function hurried(treatment: Treatment): Treatment {
  return { ...treatment, pauseMs: 500 };
}
