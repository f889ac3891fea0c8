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
  /** The rest of its help. A line goes on where the next one does not begin with a space. */
  readonly details?: string;
  /** The options that it takes, besides those of every command. */
  readonly options?: readonly OptionName[];
  /** How many arguments it takes, at least and at most. The default is none. */
  readonly words?: readonly [min: number, max: number];
  /** Rejects with a Failure if it cannot do its work. */
  run(call: Call): Promise<Result> | Result;
}

export interface Call {
  /** The arguments after the command's name. */
  readonly words: readonly string[];
  readonly options: Options;
  readonly io: Io;
  /** Connects to the API. Commands that need no server do not load the contract. Rejects with a Failure. */
  readonly api: () => Promise<Api>;
  /** How wide a line may be. */
  readonly columns: number;
  /** Shows something before the end. With --json it shows nothing, as the output is one document. */
  readonly print: (text: string) => void;
}

export interface Result {
  /** With --json, the whole of stdout. */
  readonly json: unknown;
  readonly text: string;
  /** What other programs read is not wrapped. */
  readonly isVerbatim?: boolean;
  readonly exitCode?: ExitCode;
}
