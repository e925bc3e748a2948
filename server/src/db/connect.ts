import { Kysely, PostgresDialect, type LogEvent } from "kysely";
import pg from "pg";
import type { FactKeeper } from "../base/facts.ts";
import type { Log } from "../base/log.ts";
import { isTracing, startSpan, statementName } from "../base/tracing.ts";
import { preparingPool } from "./prepared.ts";
import type { Tables } from "./tables.ts";

const INT8_OID = 20;
const TIMESTAMPTZ_OID = 1184;
const parseAnyTimestamp: (text: string) => unknown = pg.types.getTypeParser(TIMESTAMPTZ_OID);

/** The ordinary form in UTC (`2026-05-01 10:00:00.123456+00`) goes the short way: most rows hold several timestamps. */
function parseTimestamp(text: string): unknown {
  const isOrdinary = text.endsWith("+00") && text[10] === " ";
  return isOrdinary ? new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`) : parseAnyTimestamp(text);
}

/** PostgreSQL `bigint` is money or a counter here: it arrives as BigInt, so no sum can silently lose a digit. */
const types = {
  getTypeParser(oid: number, format?: "text" | "binary") {
    if (oid === INT8_OID && format !== "binary") return BigInt;
    if (oid === TIMESTAMPTZ_OID && format !== "binary") return parseTimestamp;
    return pg.types.getTypeParser(oid, format);
  },
} as pg.CustomTypesConfig; // The driver's own type wants overloads that an object literal cannot have.

export type Database = {
  /** The pool for hot paths with named prepared statements; everything else goes through `kysely`. */
  readonly pool: pg.Pool;
  readonly kysely: Kysely<Tables>;
  /** Signs the facts that transactions write about money. */
  readonly facts: FactKeeper;
  close(): Promise<void>;
};

export type DatabaseConfig = Pick<
  pg.PoolConfig,
  "connectionString" | "host" | "port" | "user" | "password" | "database" | "max"
> & {
  /** True where a pooler lends out connections for one transaction each: prepared statements would be lost. */
  readonly isPooled?: boolean;
};

/** Tells of a statement after it was run, by its name: neither its values nor its text leave the process. */
function traceStatement({ query, queryDurationMillis, level }: LogEvent): void {
  const name = statementName(query.sql);
  const attributes = { "db.system.name": "postgresql", "db.query.summary": name };
  const span = startSpan(name, { kind: "client", attributes, sinceMs: queryDurationMillis });
  span?.end(level === "error" ? new Error("refused") : undefined);
}

/** Opens a pool of a few connections: PostgreSQL on a small machine answers eight clients faster than eighty. */
export function connect({ isPooled = false, ...config }: DatabaseConfig, log: Log, facts: FactKeeper): Database {
  const pool = new pg.Pool({ max: 8, ...config, types, application_name: "berth" });
  // Without listeners a connection that breaks would end the process: idle ones are the pool's, the others their own.
  let isClosing = false;
  pool.on("connect", (client) => {
    client.on("error", (error) => log.debug({ err: error }, "a database connection broke"));
  });
  pool.on("error", (error) => {
    // A server that stops right after us may cut connections that are on their way out.
    if (!isClosing) log.warn({ err: error }, "an idle database connection broke");
  });
  const dialect = new PostgresDialect({ pool: preparingPool(pool, { isPooled }) });
  const kysely = new Kysely<Tables>({ dialect, ...(isTracing() ? { log: traceStatement } : {}) });
  return {
    pool,
    kysely,
    facts,
    close() {
      isClosing = true;
      return kysely.destroy();
    },
  };
}
