import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { ROOT } from "../../../base/root.ts";
import { installSchemathesis } from "../../setup/schemathesis.ts";
import { startProgram } from "../../workerd/processes.ts";

const HERE = join(ROOT, "infra/e2e/schemathesis");

export interface RunOptions {
  /** The URL of the API's document. */
  readonly url: string;
  /** The file of the server's certificate, PEM. */
  readonly ca: string;
  readonly token: string;
  /** The folder for schemathesis's files. */
  readonly folder: string;
  readonly seed: number;
  readonly passes: readonly Pass[];
}

/** One run of the program. */
export interface Pass {
  readonly phases: readonly ("examples" | "coverage" | "fuzzing" | "stateful")[];
  /** The largest number of cases for each operation, in each phase that draws. */
  readonly examples: number;
  /** Phases that draw repeat for this time, with other seeds. */
  readonly seconds?: number;
}

/** What all passes sent and checked. */
export interface RunReport {
  /** The output of each pass that failed, with curl commands that repeat the failure. */
  readonly failures: readonly string[];
  readonly requests: number;
  readonly requestsByPhase: Readonly<Record<string, number>>;
  readonly replies: Readonly<Record<string, number>>;
  /** How often each check was made, by its result. */
  readonly checks: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Whole sequences of the stateful phase. */
  readonly scenarios: number;
  /** How often each link of the document was followed with all its parameters, by the status of the second call. */
  readonly links: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

type Counts = Record<string, number>;

/** Runs all checks, with valid and invalid data: see schemathesis.toml. Ends with the test. */
export async function runSchemathesis(options: RunOptions): Promise<RunReport> {
  const file = installSchemathesis();
  if (file === undefined) throw new Error("no schemathesis: see infra/setup/schemathesis.ts");
  const failures: string[] = [];
  const tally = new Tally();
  for (const [i, pass] of options.passes.entries()) {
    const events = join(options.folder, `events-${i}.ndjson`);
    const printed: string[] = [];
    const flags = {
      checks: "all",
      mode: "all",
      phases: pass.phases.join(","),
      "tls-verify": options.ca,
      "report-ndjson-path": events,
      seed: String(options.seed + i),
      "max-examples": String(pass.examples),
      ...(pass.seconds === undefined ? {} : { "max-time": String(pass.seconds) }),
    };
    const program = startProgram(file, {
      args: [
        "--config-file",
        join(HERE, "schemathesis.toml"),
        "run",
        options.url,
        "--no-color",
        ...Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]),
      ],
      // Schemathesis keeps failed examples and what it learnt in its folder. A new folder makes each run start without them.
      cwd: options.folder,
      env: { TOKEN: options.token, HOOKS: join(HERE, "hooks.py"), PYTHONDONTWRITEBYTECODE: "1" },
      onLine: (line) => printed.push(line),
      onErrorLine: (line) => printed.push(line),
    });
    onTestFinished(() => program.stop());
    if ((await program.ended) !== "exit code 0") failures.push(printed.join("\n"));
    // If the program could not start, there is no file.
    if (existsSync(events)) await tally.read(events);
  }
  return { failures, ...tally.counted };
}

interface Scenario {
  readonly phase: string;
  readonly recorder: {
    readonly cases?: Readonly<Record<string, { transition?: { id: string }; is_transition_applied: boolean }>>;
    readonly interactions?: Readonly<Record<string, { response?: { status_code: number } | null }>>;
    readonly checks?: Readonly<Record<string, readonly { name: string; status: string }[]>>;
  };
}

/** Counts the requests, replies and checks in the record that schemathesis writes of a run. */
class Tally {
  readonly counted = {
    requests: 0,
    requestsByPhase: {} as Counts,
    replies: {} as Counts,
    checks: {} as Record<string, Counts>,
    scenarios: 0,
    links: {} as Record<string, Counts>,
  };

  async read(file: string): Promise<void> {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const { ScenarioFinished: scenario } = JSON.parse(line) as { ScenarioFinished?: Scenario };
      if (scenario !== undefined) this.#add(scenario);
    }
  }

  #add({ phase, recorder }: Scenario): void {
    const { requestsByPhase, replies, checks, links } = this.counted;
    const { cases = {}, interactions = {}, checks: checked = {} } = recorder;
    if (phase === "stateful") this.counted.scenarios++;
    for (const [id, { response }] of Object.entries(interactions)) {
      const status = String(response?.status_code ?? "none");
      this.counted.requests++;
      count(requestsByPhase, phase);
      count(replies, status);
      const transition = cases[id]?.is_transition_applied === true ? cases[id].transition : undefined;
      if (transition !== undefined) count((links[transition.id] ??= {}), status);
    }
    for (const { name, status } of Object.values(checked).flat()) count((checks[name] ??= {}), status);
  }
}

function count(counts: Counts, what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}
