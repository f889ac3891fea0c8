import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it, onTestFinished } from "vitest";
import { setAsideBroken } from "./set-aside.ts";

const GARBAGE = Buffer.alloc(4096, "A");

/** Databases as workerd has them, with a row each. */
function objects() {
  const folder = mkdtempSync(join(tmpdir(), "h3-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const files = ["PathStore/metadata", "PathStore/1", "PathStore/2", "PolicyStore/metadata", "PolicyStore/1"];
  const path = (file: string): string => join(folder, `objects/adaptive-h3-${file}.sqlite`);
  mkdirSync(join(folder, "marker"));
  for (const name of ["PathStore", "PolicyStore"])
    mkdirSync(join(folder, `objects/adaptive-h3-${name}`), { recursive: true });
  for (const file of files) {
    const database = new DatabaseSync(path(file));
    database.exec("CREATE TABLE t (a TEXT); INSERT INTO t VALUES ('kept')");
    database.close();
  }
  const said: string[] = [];
  return {
    files,
    path,
    said,
    notice: join(folder, "marker/set-aside"),
    check: () => setAsideBroken(join(folder, "objects"), join(folder, "marker"), (sentence) => said.push(sentence)),
  };
}

it.each([["PathStore/metadata"], ["PathStore/1"], ["PolicyStore/metadata"]])(
  "%s is renamed with its logs and said once, and the others stay",
  (file) => {
    const { files, path, said, notice, check } = objects();
    for (const log of ["", "-wal", "-shm"]) writeFileSync(path(file) + log, GARBAGE);
    check();
    expect(["", "-wal", "-shm"].filter((log) => existsSync(path(file) + log))).toEqual([]);
    // SQLite itself has written to the third, the index of the log.
    for (const log of ["", "-wal"]) expect(readFileSync(`${path(file)}.set-aside${log}`).equals(GARBAGE)).toBe(true);
    expect(said).toEqual([
      `The database ${path(file)} cannot be opened (file is not a database). It was renamed to *.set-aside, and begins anew: see docs/incidents.md.`,
    ]);
    expect(readFileSync(notice, "utf8")).toMatch(
      new RegExp(`^\\S+Z adaptive-h3-${file}\\.sqlite: file is not a database\n$`),
    );
    check();
    expect(said).toHaveLength(1);
    expect(files.filter((one) => existsSync(path(one)))).toEqual(files.filter((one) => one !== file));
  },
);

it("a policy store is never renamed, and the log says so", () => {
  const { path, said, notice, check } = objects();
  writeFileSync(path("PolicyStore/1"), GARBAGE);
  check();
  expect(readFileSync(path("PolicyStore/1")).equals(GARBAGE)).toBe(true);
  expect(said).toEqual([
    `The policy store ${path("PolicyStore/1")} cannot be opened (file is not a database). It stays as it is: docs/incidents.md says how to repair it.`,
  ]);
  expect(existsSync(notice)).toBe(false);
});

it("a header that is broken in the file alone does not count: the log has a sound one", () => {
  const { path, said, check } = objects();
  const database = new DatabaseSync(path("PathStore/1"));
  onTestFinished(() => database.close());
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE u (a TEXT)");
  writeFileSync(path("PathStore/1"), GARBAGE);
  check();
  expect(said).toEqual([]);
});

it("what is broken further inside counts in a metadata.sqlite alone, which workerd reads as a whole", () => {
  const { path, said, check } = objects();
  for (const file of ["PathStore/metadata", "PathStore/1"]) {
    const sound = readFileSync(path(file));
    writeFileSync(path(file), Buffer.concat([sound.subarray(0, 4096), Buffer.alloc(sound.length - 4096, "A")]));
  }
  check();
  expect(said).toHaveLength(1);
  expect(existsSync(path("PathStore/1"))).toBe(true);
  expect(existsSync(path("PathStore/metadata"))).toBe(false);
});

it("a database that is empty, locked or not readable stays", () => {
  const { path, said, check } = objects();
  writeFileSync(path("PathStore/1"), "");
  const database = new DatabaseSync(path("PathStore/2"));
  onTestFinished(() => database.close());
  database.exec("BEGIN EXCLUSIVE");
  rmSync(path("PathStore/metadata"));
  // A folder in the file's place cannot be read even by root.
  mkdirSync(path("PathStore/metadata"));
  symlinkSync("nowhere", path("PolicyStore/2"));
  check();
  expect(said).toEqual([]);
  expect(statSync(path("PathStore/1")).size).toBe(0);
});

it("if the notice cannot be written, the database is set aside nevertheless, and the log says why", () => {
  const { path, said, notice, check } = objects();
  mkdirSync(notice);
  writeFileSync(path("PathStore/1"), GARBAGE);
  check();
  expect(existsSync(path("PathStore/1"))).toBe(false);
  expect(said).toEqual([
    expect.stringContaining("It was renamed to *.set-aside"),
    expect.stringMatching(/^Setting aside .* did not finish: EISDIR/),
  ]);
});
