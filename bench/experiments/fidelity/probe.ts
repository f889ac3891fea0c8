import { UserError } from "../../../base/user-error.ts";
import { startProgram } from "../../../infra/workerd/processes.ts";
import { PATHPROBE_PROGRAM } from "../../lab/programs.ts";
import { lossDispersion, type ProbeResult } from "./findings.ts";
import type { FidelitySetting } from "./settings.ts";

export interface ProbeEnds {
  readonly from: string;
  readonly to: string;
  readonly toAddress: string;
}

/** Runs pathprobe to its end. `family` is the number of loss intervals in the table. @throws UserError */
export async function runProbe(
  ends: ProbeEnds,
  { asked, probe }: FidelitySetting,
  family: number,
  signal: AbortSignal | undefined,
): Promise<ProbeResult> {
  const lines: string[] = [];
  const complaints: string[] = [];
  const options: Readonly<Record<string, string | number>> = {
    from: ends.from,
    to: ends.to,
    "to-address": ends.toAddress,
    mode: probe.mode,
    "delay-ms": asked.delayMs ?? 0,
    "quiet-ms": 150,
    ...(asked.rateMbps !== undefined && { "rate-mbps": asked.rateMbps }),
    ...(probe.mode === "rate" && { seconds: probe.seconds }),
    ...(probe.mode !== "rate" && { n: probe.packets, "gap-ms": probe.gapMs }),
    ...(probe.mode === "delay" && { "load-mbps": probe.loadMbps }),
    ...(probe.mode === "loss" && { family, dispersion: lossDispersion(asked) }),
  };
  signal?.throwIfAborted();
  const program = startProgram(PATHPROBE_PROGRAM, {
    args: Object.entries(options).flatMap(([name, value]) => [`-${name}`, String(value)]),
    onLine: (line) => lines.push(line),
    onErrorLine: (line) => complaints.push(line),
  });
  const stop = (): void => void program.stop("SIGKILL");
  signal?.addEventListener("abort", stop);
  const why = await program.ended;
  signal?.removeEventListener("abort", stop);
  signal?.throwIfAborted();
  const [line] = lines;
  if (line === undefined) throw new UserError([...complaints, `pathprobe ended without a result (${why}).`].join("\n"));
  return JSON.parse(line) as ProbeResult;
}
