import { UserError } from "../../base/user-error.ts";
import type { KillSwitch } from "../core/activation.ts";
import { nearestName } from "../core/nearest.ts";
import type { Fault } from "../core/parse.ts";

/** What the process ends with. */
export const EXIT = {
  done: 0,
  /** The policy is not valid, the two differ, or the server refuses what was asked of it. */
  refused: 1,
  /** The command line cannot be read, or the person did not say yes. */
  usage: 2,
  /** No token, or one that may not. */
  token: 3,
  /** Somebody else changed the activation meanwhile. */
  changed: 4,
  /** The server cannot be reached, or does not answer properly. */
  unreachable: 5,
  /** What a shell says of a program that SIGINT ended. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface FailureDetails {
  /** The answer's, where it was the server that refused. */
  readonly status?: number;
  readonly detail?: string | undefined;
  readonly faults?: readonly Fault[] | undefined;
  /** What the pointers of the faults point into: a file's name. */
  readonly place?: string;
  /** What is in force instead, where it was changed meanwhile. */
  readonly inForce?: { readonly revision: number; readonly everyone: number; readonly killSwitch: KillSwitch | null };
}

/** Why a command could not do its work: a sentence for the person who gave it, and the exit code. */
export class Failure extends UserError {
  readonly exitCode: ExitCode;
  readonly details: FailureDetails;

  constructor(exitCode: ExitCode, title: string, details: FailureDetails = {}) {
    super(title);
    this.exitCode = exitCode;
    this.details = details;
  }
}

/** A command line that means nothing. */
export function misused(sentence: string): Failure {
  return new Failure(EXIT.usage, sentence);
}

/** The name that was most likely meant, as the end of a sentence; empty where none is near. */
export function nearest(name: string, known: readonly string[], prefix = ""): string {
  const found = nearestName(name, known);
  return found === undefined ? "" : `: ${prefix}${found}?`;
}

/** The failure as lines for a person; faults one a line, with their places. */
export function failureText({ message, details: { detail = "", faults = [], place } }: Failure): string {
  const lines = faults.map(({ pointer, message: fault }) =>
    place === undefined
      ? `  ${pointer || "the whole body"}: ${fault}`
      : `${place}:${pointer && ` ${pointer}`} ${fault}`,
  );
  return [message, detail, ...lines].filter((line) => line !== "").join("\n");
}

/** The same for a program: problem details (RFC 9457), as the API has them. */
export function failureJson({ message, details }: Failure): unknown {
  const { status = null, detail = null, faults = [], inForce } = details;
  const plain = faults.map(({ pointer, message: fault }) => ({ pointer, message: fault }));
  return { error: { status, title: message, detail, faults: plain, inForce } };
}
