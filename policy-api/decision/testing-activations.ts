// What every store of activations must do, for tests of several rooms. Nothing that is deployed imports it.
import {
  type Activation,
  type ActivationChange,
  type ActivePolicy,
  changed,
  INITIAL_ACTIVATION,
  isSameState,
  versionsOf,
} from "./activation.ts";
import { jsonDiff } from "./json-diff.ts";
import type { ActivationChanged, ActivationRequest, Page, PageRequest, Precondition } from "./versions.ts";

/** The activations of a store, in memory. */
export class MemoryActivations {
  /** By number. The first is revision 0, which no store keeps. */
  readonly revisions: Activation[] = [INITIAL_ACTIVATION];
  readonly #unusable: (version: number) => ActivePolicy | undefined;

  /** @param unusable A version that is not there or cannot be read; undefined if it can be activated. */
  constructor(unusable: (version: number) => ActivePolicy | undefined = () => undefined) {
    this.#unusable = unusable;
  }

  get current(): Activation {
    return this.revisions.at(-1) ?? INITIAL_ACTIVATION;
  }

  change(
    change: ActivationChange,
    { author, note, cause = null, ifMatch }: ActivationRequest,
    at: string,
  ): ActivationChanged {
    const { current } = this;
    if (ifMatch !== "*" && !ifMatch.includes(current.revision)) return { kind: "precondition-failed", current };
    const next = changed(current, change, (revision) => this.revisions[revision]);
    if (next === undefined) return { kind: "nothing-before" };
    const named = change.kind === "kill-switch" ? [] : versionsOf(next);
    const unusable = named.flatMap((version) => this.#unusable(version) ?? []);
    if (unusable.length > 0) return { kind: "unusable-versions", versions: unusable };
    if (change.kind !== "rollback" && isSameState(current, next)) return { kind: "changed", activation: current };
    this.revisions.push({ ...next, revision: current.revision + 1, author, note, cause, at });
    return { kind: "changed", activation: this.current };
  }

  page(request: PageRequest): Page<Activation> {
    return pageOf(this.revisions.slice(1), ({ revision }) => revision, request);
  }
}

/** A page of items that were added in order, newest first. */
export function pageOf<T>(items: readonly T[], number: (item: T) => number, { limit, before }: PageRequest): Page<T> {
  const older = items.filter((item) => number(item) < (before ?? Number.POSITIVE_INFINITY)).toReversed();
  const page = older.slice(0, limit);
  const last = page.at(-1);
  return { items: page, next: older.length > limit && last !== undefined ? number(last) : null };
}

/** The calls of a store that writers of the activation need. */
export interface ActivationStore {
  activation(): Promise<Activation | undefined>;
  change(change: ActivationChange, request: ActivationRequest): Promise<ActivationChanged>;
  activations(page: PageRequest): Promise<Page<Activation>>;
}

/** A writer reads the revision; or it writes, on the condition that this revision is still in force, or without one. */
export type WriterStep =
  | { readonly writer: number; readonly does: "read" }
  | { readonly writer: number; readonly does: "write" | "write-whatever"; readonly change: ActivationChange };

interface Attempt {
  readonly writer: number;
  /** Each attempt has its own: so an answer with another attempt's revision shows. */
  readonly author: string;
  readonly change: ActivationChange;
  readonly ifMatch: Precondition;
  readonly result: ActivationChanged;
}

/**
 * Lets writers work on a store. The steps of a round run at the same time, and rounds one after another.
 *
 * @returns the rules that the store broke, of those that must hold for any interleaving.
 */
export async function faultsOfWriters(
  store: ActivationStore,
  rounds: readonly (readonly WriterStep[])[],
): Promise<string[]> {
  const faults: string[] = [];
  const acknowledged: Activation[] = [];
  const held = new Map<number, number>();
  const history = async (): Promise<readonly Activation[]> => [
    INITIAL_ACTIVATION,
    ...(await store.activations({ limit: 1000 })).items.toReversed(),
  ];

  for (const steps of rounds) {
    const before = await history();
    const base = before.length - 1;
    const reads: (readonly [writer: number, revision: number])[] = [];
    const attempts: Attempt[] = [];
    await Promise.all(
      steps.map(async (step, i) => {
        const { writer } = step;
        if (step.does === "read") {
          reads.push([writer, (await store.activation())?.revision ?? -1]);
          return;
        }
        const ifMatch = step.does === "write" ? [held.get(writer) ?? 0] : ("*" as const);
        const author = `writer-${writer}.${i}`;
        const result = await store.change(step.change, { author, note: null, ifMatch });
        attempts.push({ writer, author, change: step.change, ifMatch, result });
      }),
    );
    for (const [writer, revision] of reads) held.set(writer, revision);
    const after = await history();
    const made = attempts.flatMap(({ result, ifMatch, author }) =>
      result.kind === "changed" && result.activation.revision > base && result.activation.author === author
        ? [{ activation: result.activation, ifMatch }]
        : [],
    );
    faults.push(...faultsOfRound(base, before, after, attempts, made));
    acknowledged.push(...made.map(({ activation }) => activation));
  }

  const kept = await history();
  if (kept.some(({ revision }, i) => revision !== i)) faults.push("revisions are not consecutive");
  if (kept.length !== acknowledged.length + 1) faults.push("there are not as many revisions as were acknowledged");
  for (const activation of acknowledged)
    if (jsonDiff(kept[activation.revision], activation).length > 0)
      faults.push(`revision ${activation.revision} was acknowledged and is not kept as it was`);
  return faults;
}

function faultsOfRound(
  base: number,
  before: readonly Activation[],
  after: readonly Activation[],
  attempts: readonly Attempt[],
  made: readonly { activation: Activation; ifMatch: Precondition }[],
): string[] {
  const faults: string[] = [];
  const latest = after.length - 1;
  const conditional = made.filter(({ ifMatch }) => ifMatch !== "*");
  if (conditional.length > 1) faults.push(`${conditional.length} writers won on revision ${base}`);
  for (const { activation, ifMatch } of conditional)
    if (ifMatch[0] !== base || activation.revision !== base + 1)
      faults.push(`${String(ifMatch[0])} was written as ${activation.revision} while ${base} was in force`);
  for (const { writer, ifMatch, result } of attempts) {
    const lost = result.kind === "precondition-failed";
    if (ifMatch === "*" && lost) faults.push(`writer ${writer} lost with *`);
    if (ifMatch !== "*" && ifMatch[0] !== base && !lost) faults.push(`writer ${writer} was not told that it is late`);
    if (!lost) continue;
    const { revision } = result.current;
    // A writer that was late from the start sees what is there. A writer that lost in this round sees what won.
    if (revision < (ifMatch[0] === base ? base + 1 : base) || revision > latest)
      faults.push(`writer ${writer} lost and was told of revision ${revision}`);
  }
  const current = before[base] ?? INITIAL_ACTIVATION;
  const effective = ({ change, result }: Attempt): boolean => {
    if (result.kind === "unusable-versions") return false;
    const next = changed(current, change, (revision) => before[revision]);
    return next !== undefined && (change.kind === "rollback" || !isSameState(current, next));
  };
  const onTime = attempts.filter(({ ifMatch }) => ifMatch !== "*" && ifMatch[0] === base);
  if (attempts.every(({ ifMatch }) => ifMatch !== "*") && onTime.some(effective) && made.length !== 1)
    faults.push(`${made.length} of ${onTime.length} writers won on revision ${base}`);
  return faults;
}
