import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { connect, type Database, type DatabaseConfig } from "../../db/connect.ts";
import { migrate } from "../../db/migrate.ts";
import { startEmbeddedPostgres } from "../../db/embedded/postgres.ts";
import { readAllTables } from "../../db/inspection.ts";
import { FactKeeper, FactWitness, NO_HEAD } from "../../base/facts.ts";
import { audit, type AuditReport } from "../../domains/money/audit/index.ts";
import { findSecret } from "../files.ts";

const MIGRATIONS = path.join(import.meta.dirname, "../../../migrations");

/** The findings in a restored database. */
export type Inspection = {
  readonly audit: AuditReport;
  readonly tableCount: number;
  readonly rowCount: bigint;
};

export type InspectionOptions = {
  /** The server's secret where the environment gives it. */
  readonly secret: string | undefined;
  /** Work to be done before the audit. */
  readonly prepare?: (database: Database) => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
};

/**
 * Starts the database of a restored data directory and inspects it. Throws an Error with one sentence for people.
 */
export async function inspectEmbedded(
  dataDir: string,
  { isDurable, ...options }: InspectionOptions & { readonly isDurable: boolean },
): Promise<Inspection> {
  const secret = await requireSecret(dataDir, options.secret);
  const { clock, log } = options;
  const postgres = await startEmbeddedPostgres({ dataDir, isDurable, clock, log });
  try {
    return await inspect(postgres.connection, secret, options);
  } finally {
    await postgres.stop();
  }
}

/** The secret of the data directory or of the environment. Throws an Error with one sentence for people. */
export async function requireSecret(dataDir: string, given: string | undefined): Promise<Buffer> {
  const secret = await findSecret(dataDir, given);
  if (secret !== undefined) return secret;
  throw new Error("The server's secret is not in its data directory: set BERTH_SECRET as the server has it.");
}

/**
 * Brings the schema of a restored database up to date, lets `prepare` work on it, reads every row (PostgreSQL checks the
 * checksum of each page that it reads), and audits the books in full.
 */
export async function inspect(
  connection: DatabaseConfig,
  secret: Buffer,
  { prepare = async () => {}, clock, log }: InspectionOptions,
): Promise<Inspection> {
  await migrate(connection, { directory: MIGRATIONS, clock });
  const facts = new FactKeeper(new FactWitness(NO_HEAD, async () => {})).useSecret(secret);
  const database = connect(connection, log, facts);
  try {
    await prepare(database);
    return { ...(await readAllTables(database)), audit: await audit({ database, clock }, { isFull: true }) };
  } finally {
    await database.close();
  }
}
