/** Lets one at a time do what keeps the cores busy. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Calls when all that came before have ended, whatever became of them. */
  async take<T>(call: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const turn = before.then(call);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
