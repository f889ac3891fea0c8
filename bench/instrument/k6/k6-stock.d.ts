// What k6 itself gives to scripts, as far as scripts use it.

declare module "k6/http" {
  interface Response {
    readonly status: number;
    readonly proto: string;
    readonly headers: Readonly<Record<string, string | undefined>>;
    /** Milliseconds. */
    readonly timings: { readonly duration: number };
  }
  const http: {
    get(url: string, params: { headers: Readonly<Record<string, string>> }): Response;
  };
  // oxlint-disable-next-line import/no-default-export -- k6's own form
  export default http;
}

declare module "k6/execution" {
  /** startTime: milliseconds since the epoch. iterationInTest counts those that were started, from 0. */
  const execution: { readonly scenario: { readonly startTime: number; readonly iterationInTest: number } };
  // oxlint-disable-next-line import/no-default-export -- k6's own form
  export default execution;
}

declare module "k6/metrics" {
  export class Counter {
    constructor(name: string);
    add(value: number, tags?: Readonly<Record<string, string>>): void;
  }
  export class Trend {
    constructor(name: string, isTime: boolean);
    add(value: number, tags?: Readonly<Record<string, string>>): void;
  }
}
