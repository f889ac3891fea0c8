import { number, size } from "../../analysis/tables/format.ts";
import { markdownTable } from "../../analysis/tables/table.ts";
import type { Machine } from "../../model/machine.ts";
import type { Finding, Following } from "./findings.ts";
import { ALL_STRETCHES, APART_MS, FOLLOW_WITHIN, NAVIGATIONS, type Scenario } from "./scenarios.ts";
import type { Settled } from "./settle.ts";

export interface PathChangeSummary {
  readonly command: string;
  readonly day: string;
  readonly seed: number;
  readonly clients: number;
  readonly scenarios: readonly Scenario[];
  readonly machine: Machine;
  readonly findings: readonly Finding[];
}

export function pathChangeReport(summary: PathChangeSummary): string {
  const { command, day, clients, scenarios, machine, findings } = summary;
  const total = (figure: "failed" | "dropped"): number => findings.reduce((sum, finding) => sum + finding[figure], 0);
  return `# path-change: how fast the adaptive arm follows a path that changes

\`${command}\`, ${day}.

- ${clients} clients for each line, one after the other, each from an address of a network never seen. A client makes ${NAVIGATIONS.A1}
  navigations on path A; the path becomes B, ${NAVIGATIONS.B} navigations; it becomes A again, ${NAVIGATIONS.A2} navigations. They are ${APART_MS / 1_000} s apart (about a second more at a change),
  each a session of its own that begins on HTTP/2, with a document and one image, and follows an offer for its image.
- Scenarios: ${scenarios.map(({ name, about, imageBytes }) => `${name} is ${about}, ${size(imageBytes)}`).join("; ")}.
- The settled answer of a path is what most of the last 3 navigations of clients that know no other path were answered: of A
  before the change, of B clients of their own (B0, ${NAVIGATIONS.B0} navigations each). Followed means that from navigation ${FOLLOW_WITHIN + 1} after the change on, at
  the latest, every client got the settled answer until the stretch's end.
- ${conclusion(findings)}

## Following

${followingTable(findings)}
Navigations until: how many passed after the change before the answer was the settled one for good, of each client; 0 is
at once, "never" not within the stretch. Changes: how often the answer changed within the stretch, of each client; 0 or 1 is no flapping.

## Answers

Each client's navigations in order, on A, B and A, and those of the client that knows B alone: H offered HTTP/3, - nothing said, c taken back, ? no document.

${answersBlock(findings)}
## Load times

Means over clients of each navigation, ms, by its number after the change:

${loadsTable(findings)}
${total("failed")} navigations failed or timed out and are not in the means. ${total("dropped")} are marked in rows.csv as made while a core was
busy or packets late, and are in them.

Machine: kernel ${machine.kernel} (${machine.arch}), ${machine.cores} cores of ${machine.cpu}; Go ${machine.go}, quic-go ${machine.quicGo}, workerd ${machine.workerd}, k6 ${machine.k6}; commit ${machine.commit}.
`;
}

/** A line for each direction, for the terminal. */
export function summaryLines(findings: readonly Finding[]): string[] {
  return findings.flatMap(({ scenario, congestion, followings }) =>
    followings.map(
      ({ direction, until, verdict }) =>
        `  ${scenario} ${congestion}, ${direction}: ${verdict} (navigations until settled: ${untilText(until)})`,
    ),
  );
}

function conclusion(findings: readonly Finding[]): string {
  const followings = findings.flatMap((finding) => finding.followings);
  const count = (verdict: Following["verdict"]): number => followings.filter((one) => one.verdict === verdict).length;
  const toFollow = count("followed") + count("not followed");
  const rest = [
    ...(count("nothing to follow") === 0
      ? []
      : [
          `in ${count("nothing to follow")} there was **nothing to follow**, as the settled answers of A and B are equal`,
        ]),
    ...(count("within the margin") === 0
      ? []
      : [
          `in ${count("within the margin")} the saving lies within the policy's margin, where either answer is right and a client keeps the one it has`,
        ]),
    ...(count("never settled") === 0 ? [] : [`in ${count("never settled")} no answer settled`]),
  ];
  return `Of ${followings.length} changes, ${toFollow} asked for another answer: ${count("followed")} were followed within ${FOLLOW_WITHIN} navigations${count("not followed") === 0 ? "" : `, **${count("not followed")} were not**`}${rest.map((text) => `; ${text}`).join("")}.`;
}

function followingTable(findings: readonly Finding[]): string {
  return markdownTable(
    ["scenario", "TCP", "change", "settled before", "settled after", "navigations until", "changes", "verdict"],
    findings.flatMap(({ scenario, congestion, settledA, settledB, followings }) =>
      followings.map(({ direction, until, changes, verdict }) => [
        scenario,
        congestion,
        direction,
        settledText(direction === "A to B" ? settledA : settledB),
        settledText(direction === "A to B" ? settledB : settledA),
        `${worst(until)} (${untilText(until)})`,
        `${Math.max(...changes)} (${changes.join(", ")})`,
        verdict,
      ]),
    ),
  );
}

function settledText({ offers, votes, of }: Settled): string {
  return `${offers === null ? "neither" : offers ? "offer" : "none"}, ${votes} of ${of}`;
}

function worst(until: Following["until"]): string {
  return until.includes(null) ? "never" : `${Math.max(...until.map((count) => count ?? 0))}`;
}

function untilText(until: Following["until"]): string {
  return until.map((count) => count ?? "never").join(", ");
}

function answersBlock(findings: readonly Finding[]): string {
  const lines = findings.flatMap(({ scenario, congestion, answers }) =>
    answers.map(
      ({ client, byStretch }) =>
        `${`${scenario} ${congestion} ${client}`.padEnd(14)} ${ALL_STRETCHES.map((stretch) => byStretch[stretch]).join("  ")}`,
    ),
  );
  return `\`\`\`text\n${lines.join("\n")}\n\`\`\`\n`;
}

function loadsTable(findings: readonly Finding[]): string {
  const most = Math.max(...ALL_STRETCHES.map((stretch) => NAVIGATIONS[stretch]));
  const titles = Array.from({ length: most }, (_, i) => ({ title: `${i + 1}`, align: "right" as const }));
  return markdownTable(
    ["scenario", "TCP", "stretch", ...titles],
    findings.flatMap(({ scenario, congestion, loads }) =>
      loads.map(({ stretch, meanLoadMs }) => [
        scenario,
        congestion,
        stretch,
        ...meanLoadMs.map((loadMs) => number(loadMs)),
      ]),
    ),
  );
}
