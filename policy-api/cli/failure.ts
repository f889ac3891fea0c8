import { UserError } from "../../base/user-error.ts";
import type { KillSwitch } from "../decision/activation.ts";
import { nearestName } from "../decision/nearest.ts";
import type { Fault } from "../decision/parse.ts";

/** Exit codes of the process. */
export const EXIT = {
  done: 0,
  /** The policy is not valid, the two differ, or the server refuses the call. */
  refused: 1,
  /** The command line cannot be read, or the person did not say yes. */
  usage: 2,
  /** No token, or a token that may not do this. */
  token: 3,
  /** Somebody else changed the activation meanwhile. */
  changed: 4,
  /** The server cannot be reached, or does not answer properly. */
  unreachable: 5,
  /** What was asked cannot be told. */
  unknown: 6,
  /** SIGINT ended the program; shells use this code. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

interface FailureDetails {
  /** The status of the answer, if the server refused. */
  readonly status?: number;
  readonly detail?: string | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** What the pointers of the faults point into, such as a file. */
  readonly place?: string;
  /** What is in force, if somebody changed it meanwhile. */
  readonly inForce?: { readonly revision: number; readonly everyone: number; readonly killSwitch: KillSwitch | null };
}

/** Why a command could not do its work: a sentence for its user, and the exit code. */
export class Failure extends UserError {
  readonly exitCode: ExitCode;
  readonly details: FailureDetails;

  constructor(exitCode: ExitCode, title: string, details: FailureDetails = {}) {
    super(title);
    this.exitCode = exitCode;
    this.details = details;
  }
}

/** For a command line that means nothing. */
export function misused(sentence: string): Failure {
  return new Failure(EXIT.usage, sentence);
}

/** The name that was most likely meant, as the end of a sentence. Empty if no name is near. */
export function nearest(name: string, known: readonly string[], prefix = ""): string {
  const found = nearestName(name, known);
  return found === undefined ? "" : `: ${prefix}${found}?`;
}

/** The failure as text for a person, with one line for each fault. */
export function failureText({ message, details: { detail = "", faults = [], place } }: Failure): string {
  const lines = faults.map(({ pointer, message: fault }) =>
    place === undefined
      ? `  ${pointer || "the whole body"}: ${fault}`
      : `${place}:${pointer && ` ${pointer}`} ${fault}`,
  );
  return [message, detail, ...lines].filter((line) => line !== "").join("\n");
}

/** The failure as JSON for a program, with the members of problem details (RFC 9457). */
export function failureJson({ message, details }: Failure): unknown {
  const { status = null, detail = null, faults = [], inForce } = details;
  const plain = faults.map(({ pointer, message: fault }) => ({ pointer, message: fault }));
  return { error: { status, title: message, detail, faults: plain, inForce } };
}
