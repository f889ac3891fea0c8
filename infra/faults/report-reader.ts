import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { callApi } from "../workerd/policy-client.ts";
import type { Load } from "./load.ts";
import type { Fates, ReportReading } from "./report-books.ts";

/** An isolate tells the objects what it learnt after 10 s at most, and they write that after 10 s more. */
const WRITTEN_MS = 25_000;

/** Reads what became of reports. */
export class ReportReader {
  readonly #socketPath: string;
  readonly #token: string;
  readonly #objectsDir: string;
  readonly #load: Pick<Load, "replay">;

  constructor(socketPath: string, token: string, objectsDir: string, load: Pick<Load, "replay">) {
    this.#socketPath = socketPath;
    this.#token = token;
    this.#objectsDir = objectsDir;
    this.#load = load;
  }

  /** Once everything is on disk. */
  async read(): Promise<ReportReading> {
    // An interrupted run does not wait for it.
    await pause(WRITTEN_MS, undefined, { ref: false });
    const { json } = await callApi(this.#socketPath, this.#token, "GET", "results?version=1");
    const { reportsHere = [] } = (json ?? {}) as { reportsHere?: readonly { fate: string; count: number }[] };
    const fates: Fates = Object.fromEntries(reportsHere.map(({ fate, count }) => [fate, count]));
    return { fates, pages: countedPages(this.#objectsDir) };
  }

  /** The same, after some reports that counted came once more. */
  async readAfterReplay(): Promise<ReportReading & { readonly sent: number }> {
    const sent = await this.#load.replay();
    return { ...(await this.read()), sent };
  }
}

/** Of how many pages the objects counted the report. Rows that nobody can read count as none. */
function countedPages(objectsDir: string): number {
  const folder = join(objectsDir, "adaptive-h3-PathStore");
  if (!existsSync(folder)) return 0;
  const files = readdirSync(folder).filter((file) => file.endsWith(".sqlite") && file !== "metadata.sqlite");
  return files.reduce((pages, file) => {
    const database = new DatabaseSync(join(folder, file), { readOnly: true, timeout: 5_000 });
    try {
      const tables = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'paths'").all();
      if (tables.length === 0) return pages;
      const [counted] = database
        .prepare("SELECT count(*) AS n FROM paths, json_each(state, '$.countedPages') WHERE value ->> 'isOpen' IS NULL")
        .all();
      return pages + Number(counted?.["n"] ?? 0);
    } finally {
      database.close();
    }
  }, 0);
}
