import { join } from "node:path";
import { UserError } from "../../base/user-error.ts";
import { type RunningProgram, startProgram } from "../../infra/workerd/processes.ts";
import type { Quic } from "../model/arm.ts";
import { QUICHE_PROGRAM } from "./programs.ts";

export interface QuichePlace {
  readonly address: string;
  /** Where an edge has made its certificate. */
  readonly stateDir: string;
  readonly namespace: string;
  /** Who takes path samples, `unix:/path`. */
  readonly samples: string;
}

/** Starts a server on quiche, and returns when it listens. @throws UserError */
export async function startQuiche(
  quic: Exclude<Quic, "quic-go">,
  { address, stateDir, namespace, samples }: QuichePlace,
): Promise<RunningProgram> {
  const ready = Promise.withResolvers<undefined>();
  const complaints: string[] = [];
  let isReady = false;
  const files = [join(stateDir, "dev-cert.pem"), join(stateDir, "dev-key.pem"), samples.replace(/^unix:/, "")];
  const program = startProgram("ip", {
    args: ["netns", "exec", namespace, QUICHE_PROGRAM, address, quic.replace("quiche-", ""), ...files],
    onLine: () => {
      isReady = true;
      ready.resolve(undefined);
    },
    onErrorLine: (line) => (isReady ? console.error(line) : complaints.push(line)),
  });
  const failure = await Promise.race([ready.promise, program.ended]);
  if (failure !== undefined) throw new UserError(complaints.join("\n") || `quiche-origin did not start (${failure}).`);
  return program;
}
