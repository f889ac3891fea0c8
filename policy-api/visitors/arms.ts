/** Something of the clients that were assigned to be offered HTTP/3, and of those that were not. */
export interface Arms<T> {
  readonly offered: T;
  readonly withheld: T;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A figure, its standard error at this look, and an interval that holds at every look. */
export interface Estimate extends Interval {
  readonly value: number;
  readonly se: number;
}

/** The same of each arm. */
export function ofEach<A, B>({ offered, withheld }: Arms<A>, of: (arm: A) => B): Arms<B> {
  return { offered: of(offered), withheld: of(withheld) };
}
