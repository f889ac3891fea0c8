/** Counts by cause, since the isolate began. It has as many numbers as there are causes, however much is counted. */
export class Counts<Cause extends string> {
  readonly #counts = new Map<Cause, number>();

  add(cause: Cause, more = 1): void {
    this.#counts.set(cause, (this.#counts.get(cause) ?? 0) + more);
  }

  /** Those above 0. */
  read(): Readonly<Partial<Record<Cause, number>>> {
    return Object.fromEntries([...this.#counts].filter(([, count]) => count > 0)) as Partial<Record<Cause, number>>;
  }
}
