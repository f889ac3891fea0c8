// Rows that the tests of this folder begin from.
import type { Answer, NavigationRow } from "./row.ts";

const ANSWERS: Readonly<Record<string, Answer>> = { H: "offer", "-": "none", c: "clear", "?": "unknown" };
const ALT_SVC = { offer: 'h3=":8000"; ma=60', none: "", clear: "clear", unknown: "" } as const;

export function answersOf(letters: string): Answer[] {
  return Array.from(letters, (letter) => ANSWERS[letter] ?? "unknown");
}

/** The navigations of one stretch, 2 s apart, each answered as its letter says. */
export function stretchRows(over: Partial<NavigationRow>, letters: string): NavigationRow[] {
  return answersOf(letters).map((answer, i) => ({
    id: `${i}`,
    scenario: "loss",
    congestion: "cubic",
    client: 1,
    stretch: "B",
    number: i + 1,
    rateMbps: 100,
    delayMs: 12.5,
    lossRatio: 0,
    imageBytes: 1_000_000,
    outcome: "ok",
    error: "",
    dropped: "",
    loadMs: 100 * (i + 1),
    answer,
    altSvc: ALT_SVC[answer],
    settled: "",
    documentProtocol: answer === "unknown" ? "" : "h2",
    lastProtocol: answer === "offer" ? "h3" : "h2",
    switched: answer === "offer",
    tcpMinRttMs: 25,
    tcpPacketsSent: 700,
    tcpPacketsLost: 0,
    tcpDeliveryRateBps: 10_000_000,
    quicMinRttMs: null,
    quicPacketsSent: null,
    quicPacketsLost: null,
    quicDeliveryRateBps: null,
    ...over,
    startedMs: (over.startedMs ?? 1_767_225_600_000) + 2_000 * i,
  }));
}
