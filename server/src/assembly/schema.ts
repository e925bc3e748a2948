import path from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Database, DatabaseConfig } from "../db/connect.ts";
import { migrate, readSchemaState, tooNew } from "../db/migrate.ts";
import { MigrationError, newestOf, readMigrations, schemaName, type Migration } from "../db/migration-files.ts";
import { findOlderServers } from "../domains/servers/index.ts";

export const MIGRATIONS = path.join(import.meta.dirname, "../../migrations");

type Means = {
  readonly database: Database;
  readonly clock: Clock;
  /** False where the operator migrates by a step of its own, before servers start. */
  readonly mayMigrate: boolean;
  readonly onPending?: (count: number) => void;
};

/**
 * Brings the database to the schema of this version and returns the files applied now; any number of servers may do so
 * at once, beside older ones that serve. Throws a MigrationError where database and version do not fit each other.
 */
export async function bringUpToDate(
  connection: DatabaseConfig,
  { database, clock, mayMigrate, onPending }: Means,
): Promise<readonly string[]> {
  if (!mayMigrate) {
    const state = await readSchemaState(connection, MIGRATIONS);
    if (state.pending.length > 0) throw new MigrationError(tooNew(state));
    return [];
  }
  const requireServersFrom = async (schema: number, migration: Migration) => {
    const older = await findOlderServers(database.kysely, clock, schema);
    if (older.length > 0) throw new MigrationError(heldBack(migration, schema, older));
  };
  return migrate(connection, {
    ...{ directory: MIGRATIONS, clock, requireServersFrom },
    ...(onPending === undefined ? {} : { onPending }),
  });
}

/** The schema that this version knows. */
export async function ownSchema(): Promise<number> {
  return newestOf(await readMigrations(MIGRATIONS));
}

function heldBack(
  { file }: Migration,
  schema: number,
  older: readonly { readonly place: string; readonly schemaNumber: number; readonly version: string }[],
): string {
  const named = older
    .map(
      ({ place, schemaNumber, version }) =>
        `${place} (${version || "unknown version"}, schema ${schemaName(schemaNumber)})`,
    )
    .join(", ");
  return (
    `${file} takes away what these running servers use: ${named}. Bring them to a version with schema ` +
    `${schemaName(schema)} or later, or stop them, and start this again`
  );
}
