import type { Readable } from "node:stream";

/** What a command has of the world; tests pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What names of files are relative to. */
  readonly folder: string;
  /** What the state of `npm start` is looked for in. */
  readonly projectFolder: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly nowMs: () => number;
}

export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };
