/** What attackers know of the reports that they sent. */
export interface SentReports {
  /** How many were answered, by what the worker has to make of them. "": whatever. "maybe": the worker may not have seen it. "none": it has not. */
  readonly fates: Readonly<Record<string, number>>;
  /** How many pages may count: their tokens came whole, in a report that nothing forbids. */
  readonly pages: number;
  /** How many clients sent a report that has to count. */
  readonly clients: number;
}

/** How many reports, by what became of them (`reports` of policy-api/api/counters/families.ts). */
export type Fates = Readonly<Record<string, number>>;

/** What the worker and its objects say of reports, at one moment. */
export interface ReportReading {
  /** The worker's own count of reports, by what became of them. */
  readonly fates: Fates;
  /** How many pages the objects counted, on disk. */
  readonly pages: number;
}

/** The readings of a run. */
export interface ReportBooks {
  /** After all hostile inputs. */
  readonly attacked: ReportReading;
  /** After reports that had counted came once more, and how many. */
  readonly replayed: ReportReading & { readonly sent: number };
  /** After they came once more, hours later, at the end of the run. Undefined where the clock cannot be set. */
  readonly late: (ReportReading & { readonly sent: number }) | undefined;
}

/** No report is late before the clock is set, and none may find the worker unready: an exception would look like that. */
const NEVER: ReadonlySet<string> = new Set(["late", "unready"]);

/** Says where the worker's books of reports do not fit what was sent. */
export function judgeReports(sent: SentReports, { attacked, replayed, late }: ReportBooks): string[] {
  const { "": whatever = 0, maybe = 0, none: _, ...wanted } = sent.fates;
  const { accepted = 0, replayed: again = 0, crowded = 0, ...refused } = attacked.fates;
  const wrong: string[] = [];
  const expect = (what: string, count: number, least: number, most = least): void => {
    if (count < least || count > most)
      wrong.push(`reports: ${count} ${what}, and there may be ${least === most ? least : `${least} to ${most}`}`);
  };
  const { accepted: valid = 0, ...forbidden } = wanted;
  for (const fate of new Set([...Object.keys(forbidden), ...Object.keys(refused)])) {
    const least = forbidden[fate] ?? 0;
    expect(fate, refused[fate] ?? 0, least, NEVER.has(fate) ? 0 : least + whatever + maybe);
  }
  const answered = sum(wanted) + whatever + maybe;
  expect("were accepted or have a cause", accepted + sum(refused), answered - maybe - crowded, answered);
  expect("were accepted", accepted, valid - crowded, valid + whatever);
  expect("pages count", attacked.pages, sent.clients, Math.min(sent.pages, accepted - again));
  const cameAgain = replayed.fates["replayed"] ?? 0;
  expect("were known when they came again", cameAgain - again, replayed.sent);
  expect("pages count after the replay", replayed.pages, attacked.pages);
  if (late === undefined) return wrong;
  expect("were late hours later", late.fates["late"] ?? 0, late.sent);
  // Meanwhile the objects may have forgotten pages whose reports would come too late.
  expect("pages count hours later", late.pages, 0, attacked.pages);
  return wrong;
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
