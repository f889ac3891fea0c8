import { judgeReports, type ReportBooks, type SentReports } from "./report-books.ts";
import { aligned } from "./table.ts";

/** What the load generator prints of hostile inputs (infra/faults/peer). */
export interface HostileSummary {
  /** How many inputs, by protocol and kind. */
  readonly inputs: Counts;
  /** How many replies, by protocol and status, or by what came in the place of one. */
  readonly replies: Counts;
  readonly reports: SentReports;
  readonly found: number;
  /** The first ones. */
  readonly findings: readonly Finding[];
  readonly seconds: number;
}

type Counts = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** What must not be. The seed and the index show it again. */
export interface Finding {
  readonly index: number;
  readonly protocol: string;
  readonly kind: string;
  readonly what: string;
}

/** All that a run with hostile inputs is judged by. */
export interface HostileRun {
  readonly seed: number;
  readonly summary: HostileSummary;
  /** The lines that the edge and workerd wrote. */
  readonly lines: readonly string[];
  /** Sentences about programs that ended. */
  readonly endings: readonly string[];
  /** The memory of both programs at the end, bytes. */
  readonly memory: Readonly<Record<Program, number>>;
  /** Visitors that came meanwhile, and what was wrong with their answers. */
  readonly visitors: { readonly requests: number; readonly wrong: readonly string[] };
  /** What became of pages' reports. */
  readonly reports: ReportBooks;
}

export type Program = "edge" | "workerd";

/** What a program may hold in memory at the end. */
export const MEMORY_MAX_BYTES: Readonly<Record<Program, number>> = { edge: 256e6, workerd: 512e6 };

/** A line of a program that failed: a panic, or a stack trace of Go or JavaScript. */
const FAILURE = /panic|goroutine \d+|\.go:\d+|^\s*at .+:\d+:\d+|uncaught|fatal|assert|stack:|segmentation/i;
const LINES_SHOWN = 10;

/** Says what was wrong with a run. Nothing, if it was right. */
export function judgeHostile({ seed, summary, lines, endings, memory, visitors, reports }: HostileRun): string[] {
  const failures = lines.filter((line) => FAILURE.test(line));
  return [
    ...summary.findings.map(
      ({ index, protocol, kind, what }) =>
        `${protocol}/${kind}, input ${index}: ${what}\n    again: --hostile 1 --from ${index} --seed ${seed}`,
    ),
    ...(summary.found > summary.findings.length ? [`${summary.found - summary.findings.length} more findings`] : []),
    ...endings,
    ...failures.slice(0, LINES_SHOWN).map((line) => `a program wrote: ${line}`),
    ...(failures.length > LINES_SHOWN ? [`${failures.length - LINES_SHOWN} more such lines`] : []),
    ...(["edge", "workerd"] as const).flatMap((program) =>
      memory[program] > MEMORY_MAX_BYTES[program] || memory[program] === 0
        ? [`${program} holds ${megabytes(memory[program])}, and may hold ${megabytes(MEMORY_MAX_BYTES[program])}`]
        : [],
    ),
    ...(visitors.requests === 0 ? ["no visitor came meanwhile"] : []),
    ...visitors.wrong.map((sentence) => `a visitor: ${sentence}`),
    ...judgeReports(summary.reports, reports),
  ];
}

export function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

/** A table of the inputs by kind, and one of the replies by status. A column for each protocol. */
export function tablesOf(summary: HostileSummary): string {
  return [["inputs", summary.inputs] as const, ["replies", summary.replies] as const]
    .map(([title, counts]) => {
      const protocols = Object.keys(counts).toSorted();
      const rows = [...new Set(protocols.flatMap((protocol) => Object.keys(counts[protocol] ?? {})))].toSorted();
      const sum = (protocol: string): number => Object.values(counts[protocol] ?? {}).reduce((a, b) => a + b, 0);
      return aligned([
        [title, ...protocols],
        ...rows.map((row) => [row, ...protocols.map((protocol) => String(counts[protocol]?.[row] ?? "-"))]),
        ["all", ...protocols.map((protocol) => String(sum(protocol)))],
      ]);
    })
    .join("\n\n");
}
