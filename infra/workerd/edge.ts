import { UserError } from "../../base/user-error.ts";
import { type RunningProgram, startProgram } from "./processes.ts";

export interface EdgeOptions {
  /** The path of the built edge. */
  readonly program: string;
  /** ADDRESS[,congestion=..][,http3=off], one or more. Without a name the congestion control is bbr if the kernel allows it. */
  readonly listen: readonly string[];
  /** Where the edge sends requests: `unix:/path` or `http://HOST:PORT`. */
  readonly upstream: string;
  /** Where the edge sends path samples, in the same form. */
  readonly samples: string;
  /** The folder of the development certificate. */
  readonly stateDir: string;
  readonly flags?: readonly string[];
  /** The network namespace to run in; needs root. */
  readonly networkNamespace?: string;
  readonly onErrorLine?: (line: string) => void;
}

/** A TLS edge that accepts connections. */
export interface Edge {
  readonly program: RunningProgram;
  /** The addresses on which it listens, `host:port`. */
  readonly addresses: readonly string[];
  /** The congestion control of each address's TCP, in the same order. */
  readonly congestion: readonly string[];
  /** SHA-256 of the certificate's public key, base64, the form that Chromium takes. */
  readonly spkiSha256: string;
}

/** Starts the edge and returns when it accepts connections. @throws UserError */
export async function startEdge(options: EdgeOptions): Promise<Edge> {
  const announced = Promise.withResolvers<string>();
  const complaints: string[] = [];
  let listening = false;
  const args = [
    ...options.listen.flatMap((address) => ["-listen", address]),
    "-upstream",
    options.upstream,
    "-samples",
    options.samples,
    "-state",
    options.stateDir,
    ...(options.flags ?? []),
  ];
  const inNamespace =
    options.networkNamespace === undefined ? [] : ["ip", "netns", "exec", options.networkNamespace, options.program];
  const program = startProgram(inNamespace[0] ?? options.program, {
    args: [...inNamespace.slice(1), ...args],
    onLine: announced.resolve,
    onErrorLine: (line) => {
      if (listening) (options.onErrorLine ?? console.error)(line);
      else complaints.push(line);
    },
    graceMs: 15_000,
  });
  const ended = program.ended.then((why) => {
    throw new UserError(complaints.join("\n") || `The edge did not start (${why}).`);
  });
  const line = await Promise.race([announced.promise, ended]);
  listening = true;
  for (const complaint of complaints) (options.onErrorLine ?? console.error)(complaint);
  const { addresses, congestion, spkiSha256 } = JSON.parse(line) as Omit<Edge, "program">;
  return { program, addresses, congestion, spkiSha256 };
}
