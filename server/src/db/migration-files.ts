import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** The schema cannot be brought up to date. The message names the migration and is meant for people. */
export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly file: string;
  readonly sql: string;
  readonly sha256: string;
  /** False for statements that run one by one outside a transaction, as concurrent index builds demand. They must be safe to repeat. */
  readonly isTransactional: boolean;
  /**
   * The lowest schema of servers that may run beside this migration (`-- contract: NNNN`): one that takes something away
   * breaks servers that still use it. 0 for a migration that only adds.
   */
  readonly servesFrom: number;
};

/** Reads `NNNN_name.sql` files in the order of their numbers. Any other SQL file and any number used twice is refused. */
export async function readMigrations(directory: string): Promise<readonly Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).toSorted();
  const migrations: Migration[] = [];
  for (const file of files) {
    const [, number, name] = /^(\d{4})_([a-z0-9_]+)\.sql$/.exec(file) ?? [];
    if (number === undefined || name === undefined) {
      throw new MigrationError(`${file} is not named like a migration (0001_what_it_does.sql)`);
    }
    if (migrations.at(-1)?.number === Number(number)) {
      throw new MigrationError(`${file} has the same number as ${migrations.at(-1)?.file}`);
    }
    const sql = await readFile(path.join(directory, file), "utf8");
    const sha256 = createHash("sha256").update(sql).digest("hex");
    const isTransactional = !/^-- no-transaction$/m.test(sql);
    const servesFrom = Number(/^-- contract: (\d{4})$/m.exec(sql)?.[1] ?? 0);
    migrations.push({ number: Number(number), name, file, sql, sha256, isTransactional, servesFrom });
  }
  return migrations;
}

/** The schema of this version: the number of its newest migration. */
export function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.number ?? 0;
}

/** One hash for a whole set of migrations: changes with any edit. */
export function hashMigrations(migrations: readonly Migration[]): string {
  const hash = createHash("sha256");
  for (const { number, name, sha256 } of migrations) hash.update(`${number} ${name} ${sha256}\n`);
  return hash.digest("hex");
}

/** The number of a schema as people read it. */
export function schemaName(number: number): string {
  return String(number).padStart(4, "0");
}

export function fileName(number: number, name: string): string {
  return `${schemaName(number)}_${name}.sql`;
}

/** The sentence for a server whose schema is too old for its database. */
export function tooOld(
  own: number,
  { servesFrom, file }: { readonly servesFrom: number; readonly file: string },
): string {
  return (
    `this Berth is too old for its database: it has schema ${schemaName(own)}, and ${file} of the database needs ` +
    `${schemaName(servesFrom)} or later; start a newer Berth`
  );
}

/** Files without a transaction hold plain statements, each ending with a semicolon at the end of a line. */
export function splitStatements(sql: string): readonly string[] {
  const withoutComments = sql.replaceAll(/^\s*--.*$/gm, "");
  return withoutComments.split(/;[ \t]*$/m).filter((statement) => statement.trim() !== "");
}
