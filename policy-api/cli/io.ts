import type { Readable } from "node:stream";

/** The world as a command sees it. Tests pass their own. */
export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Names of files are relative to this folder. */
  readonly folder: string;
  /** `npm start` keeps its state in this folder. */
  readonly projectFolder: string;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Output;
  readonly stderr: Output;
  readonly nowMs: () => number;
}

export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  /** Of a terminal. */
  readonly columns?: number;
};
