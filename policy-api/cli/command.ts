import type { Api } from "./api.ts";
import type { ExitCode } from "./failure.ts";
import type { Io } from "./io.ts";
import type { OptionName, Options } from "./options.ts";

/** One command of the command line. */
export interface Command {
  readonly name: string;
  /** What follows the name. */
  readonly usage: string;
  /** One line of the overview. */
  readonly summary: string;
  /** The rest of what `help` says of it; lines of at most 100 characters. */
  readonly details?: string;
  /** Those that it takes beside the ones of every command. */
  readonly options?: readonly OptionName[];
  /** How many arguments it takes, at least and at most; without it none. */
  readonly words?: readonly [min: number, max: number];
  /** Rejects with a Failure where it cannot do its work. */
  run(call: Call): Promise<Result> | Result;
}

export interface Call {
  /** The arguments after the command's name. */
  readonly words: readonly string[];
  readonly options: Options;
  readonly io: Io;
  /** The API. Only commands that ask a server need to know of one, and load the contract. Rejects with a Failure. */
  readonly api: () => Promise<Api>;
  /** Shows something before the end. With --json nothing: its output is one document. */
  readonly tell: (text: string) => void;
}

export interface Result {
  /** With --json, the whole of stdout. */
  readonly json: unknown;
  readonly text: string;
  readonly exitCode?: ExitCode;
}
