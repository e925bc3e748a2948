// `berth migrate`: brings an external database to the schema of this version, before its servers start.
import { parseArgs } from "node:util";
import { systemClock } from "./base/clock.ts";
import { FactKeeper, FactWitness, NO_HEAD } from "./base/facts.ts";
import { createLog } from "./base/log.ts";
import { connect } from "./db/connect.ts";
import { readSchemaState } from "./db/migrate.ts";
import { MigrationError, schemaName } from "./db/migration-files.ts";
import { ConfigError } from "./assembly/config-error.ts";
import { bringUpToDate, MIGRATIONS, ownSchema } from "./assembly/schema.ts";
import { readSecretFiles } from "./assembly/secret-files.ts";
import { databaseTrouble } from "./assembly/start-trouble.ts";

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Returns the exit code: 1 when a look found that migrations are missing. */
async function main(databaseUrl: string, isLook: boolean): Promise<number> {
  const connection = { connectionString: databaseUrl };
  if (isLook) {
    const { pending } = await readSchemaState(connection, MIGRATIONS);
    for (const { file, servesFrom } of pending) {
      say(servesFrom > 0 ? `${file} (needs servers of schema ${schemaName(servesFrom)} or later)` : file);
    }
    say(`${pending.length} migrations to apply.`);
    return pending.length > 0 ? 1 : 0;
  }
  const log = createLog(process.env["BERTH_LOG_LEVEL"] ?? "warn");
  // The keeper needs no secret, since no fact of money is written here.
  const database = connect(connection, log, new FactKeeper(new FactWitness(NO_HEAD, async () => {})));
  try {
    const applied = await bringUpToDate(connection, { database, clock: systemClock, mayMigrate: true });
    for (const file of applied) say(file);
    say(
      `The database has schema ${schemaName(await ownSchema())} of this version or a later one; ${applied.length} migrations were applied now.`,
    );
    return 0;
  } finally {
    await database.close();
  }
}

const { values } = parseArgs({ options: { check: { type: "boolean" } } });
let databaseUrl = "";
try {
  await readSecretFiles(process.env);
  databaseUrl = process.env["BERTH_DATABASE_DIRECT_URL"] || process.env["DATABASE_URL"] || "";
  process.exitCode = await main(databaseUrl, values.check === true);
} catch (error) {
  const isPlain = error instanceof MigrationError || error instanceof ConfigError;
  const trouble = isPlain ? error : databaseTrouble(error, databaseUrl);
  say(`berth could not migrate: ${trouble instanceof Error ? trouble.message : String(trouble)}`);
  process.exitCode = 1;
}
