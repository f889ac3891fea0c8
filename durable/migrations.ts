/**
 * Brings an object's schema up to date: runs the migrations it has not run yet, in order, in one transaction.
 *
 * A migration, once released, is never edited: a change is a new one at the end. `deleteAll` takes the table of
 * versions along, so that an object that has forgotten everything begins again at the first.
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
