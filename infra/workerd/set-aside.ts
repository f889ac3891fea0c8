import { appendFileSync, existsSync, globSync, renameSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

// If workerd cannot open a metadata.sqlite, it ends with the first request that needs an object, and so after each start. It
// lives on without an object's database, but that object never works again. So this runs before each start of workerd:
// `npm start` calls it, and the systemd unit runs it as a program.

/** SQLITE_CORRUPT and SQLITE_NOTADB. Any other error may pass, so it is no reason to set a database aside. */
const BROKEN = new Set([11, 26]);
/** The worker's health looks for this file, in the folder of the store's marker. */
const NOTICE = "set-aside";

/**
 * Renames each database that cannot be opened, so that workerd begins a new one. The policy store is never renamed: an empty
 * store must not pass for it.
 *
 * @param objectsDir The folder of all objects, of which no workerd may run.
 * @param markerDir The folder of the store's marker.
 * @param say Takes a sentence about each database that cannot be opened.
 */
export function setAsideBroken(objectsDir: string, markerDir: string, say: (sentence: string) => void): void {
  for (const file of globSync("adaptive-h3-*/*.sqlite", { cwd: objectsDir })) {
    const path = join(objectsDir, file);
    const why = whyBroken(path);
    if (why === undefined) continue;
    const cannot = `${path} cannot be opened (${why})`;
    if (isPolicyStore(file)) {
      say(`The policy store ${cannot}. It stays as it is: docs/incidents.md says how to repair it.`);
      continue;
    }
    try {
      // The logs first: the new database must never meet the old log. One copy is kept, so that a bad disk does not fill up.
      for (const log of ["-wal", "-shm", ""])
        if (existsSync(path + log)) renameSync(path + log, `${path}.set-aside${log}`);
      say(`The database ${cannot}. It was renamed to *.set-aside, and begins anew: see docs/incidents.md.`);
      appendFileSync(join(markerDir, NOTICE), `${new Date().toISOString()} ${file}: ${why}\n`);
    } catch (error) {
      say(`Setting aside ${path} did not finish: ${(error as Error).message}.`);
    }
  }
}

/** Of the folder PolicyStore, metadata.sqlite only lists alarms, and the policy store sets none. */
function isPolicyStore(file: string): boolean {
  return file.startsWith("adaptive-h3-PolicyStore/") && !isMetadata(file);
}

function isMetadata(file: string): boolean {
  return file.endsWith("metadata.sqlite");
}

/** Why SQLite cannot open a database, in its words. Undefined if it can. The log counts: it may hold a sound first page. */
function whyBroken(path: string): string | undefined {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      database.prepare("SELECT count(*) FROM sqlite_master").get();
      // workerd reads all of this small one when it starts.
      if (!isMetadata(path)) return undefined;
      const found = database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"];
      return found === "ok" ? undefined : String(found);
    } finally {
      database.close();
    }
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number };
    return errcode !== undefined && BROKEN.has(errcode & 0xff) ? message : undefined;
  }
}

const [objectsDir, markerDir] = process.argv.slice(2);
if (import.meta.main && objectsDir !== undefined && markerDir !== undefined)
  setAsideBroken(objectsDir, markerDir, (sentence) => console.error(sentence));
