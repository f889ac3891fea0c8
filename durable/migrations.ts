/**
 * Brings an object's schema up to date. Runs the migrations that it has not run yet, in order, in one transaction.
 *
 * Never edit a migration after its release: add a new one at the end. `deleteAll` also deletes the table of versions,
 * so an object that has forgotten everything begins again at the first migration.
 */
export function migrate(storage: DurableObjectStorage, migrations: readonly ((sql: SqlStorage) => void)[]): void {
  storage.transactionSync(() => {
    const { sql } = storage;
    sql.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
    const row = sql.exec<{ version: number }>("SELECT version FROM schema_version").toArray()[0];
    const version = row?.version ?? 0;
    if (version >= migrations.length) return;
    for (const migration of migrations.slice(version)) migration(sql);
    sql.exec(
      row === undefined ? "INSERT INTO schema_version VALUES (?)" : "UPDATE schema_version SET version = ?",
      migrations.length,
    );
  });
}
