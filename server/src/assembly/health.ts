import { statfs } from "node:fs/promises";
import { Type } from "typebox";
import { readDatabaseStanding, type DatabaseStanding } from "../db/standing.ts";
import { tooOld } from "../db/migration-files.ts";
import type { Draining } from "../http/draining.ts";
import { model } from "../http/model.ts";
import type { HttpScope } from "../http/server.ts";
import type { LoopDriver } from "../base/loop-driver.ts";
import { Cached } from "./metrics/cached.ts";

/** PostgreSQL writes its journal in files of 16 MB; with less room than a few of them it may stop at any moment. */
export const FREE_BYTES_MIN = 64 * 1_048_576;

/** Bytes that may still be written below a directory. */
export async function freeBytesOf(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

export type HealthPorts = {
  readonly loops: Pick<LoopDriver, "lateNames">;
  /** Bytes left on the disk of the data directory; undefined where nobody looks. */
  readonly freeBytes: () => Promise<number | undefined>;
  /** The number of the newest migration of this version; undefined where nobody looks. */
  readonly newestMigration?: number | undefined;
  /** The notice that this server is about to stop; absent where nothing gives one. */
  readonly draining?: Pick<Draining, "isDraining"> | undefined;
  /** Sentences about what will be trouble unless somebody acts. */
  readonly warnings?: () => readonly string[];
};

/** A database that has not answered by then answers no request in time either. */
const DATABASE_LIMIT_MS = 5_000;
/** Everybody may ask: the database is asked once a second at most. */
const STANDING_KEPT_MS = 1_000;
/** A standby that is further behind would lose so much of the market when it takes over. */
const REPLICA_LAG_SECONDS_MAX = 60;
const NAMES_MAX = 5;

/**
 * Registers the health checks: the process answers; database, disk and the loops that the server needs work. A standby that
 * lags is a warning only: no server becomes better by taking requests from this one.
 */
export function registerHealth(
  { app, database, clock }: HttpScope,
  { loops, freeBytes, newestMigration = 0, draining, warnings: warningsOf = () => [] }: HealthPorts,
): void {
  const Answer = model("Health", { status: Type.String() });
  const Readiness = model("Readiness", { status: Type.String(), warnings: Type.Optional(Type.Array(Type.String())) });
  app.get(
    "/healthz",
    {
      config: { access: { operation: "api.health.process", permission: "public" } },
      schema: { summary: "Whether the process answers", response: { 200: Answer } },
    },
    async () => ({ status: "ok" }),
  );
  const standing = new Cached(() => readDatabaseStanding(database.kysely), { keptMs: STANDING_KEPT_MS, clock });
  app.get(
    "/readyz",
    {
      config: { access: { operation: "api.health.ready", permission: "public" } },
      schema: { summary: "Whether database and loops work", response: { 200: Readiness, 503: Readiness } },
    },
    async (_request, reply) => {
      const answer = await askDatabase();
      const leaving = draining?.isDraining === true ? ["this server is stopping: send requests to another one"] : [];
      const troubles = [...leaving, ...databaseTroubles(answer), ...(await diskTroubles()), ...loopTroubles(loops)];
      const warnings = [...replicaWarnings(answer), ...warningsOf()];
      const rest = warnings.length === 0 ? {} : { warnings: [...warnings] };
      if (troubles.length === 0) return { status: "ok", ...rest };
      return reply.code(503).send({ status: troubles.join("; "), ...rest });
    },
  );

  async function askDatabase(): Promise<DatabaseStanding | undefined> {
    const done = new AbortController();
    const late = clock.sleep(DATABASE_LIMIT_MS, done.signal).then(nothing, nothing);
    try {
      return await Promise.race([standing.get().catch(nothing), late]);
    } finally {
      done.abort();
    }
  }

  function databaseTroubles(answer: DatabaseStanding | undefined): readonly string[] {
    if (answer === undefined) return ["the database does not answer"];
    if (answer.isStandby) return ["the database is a standby and takes no writes"];
    const { contract } = answer;
    if (newestMigration > 0 && contract !== undefined && newestMigration < contract.servesFrom) {
      return [tooOld(newestMigration, contract)];
    }
    if (answer.newestMigration >= newestMigration) return [];
    return ["the database lacks migrations of this version: start this server again"];
  }

  async function diskTroubles(): Promise<readonly string[]> {
    const free = await freeBytes();
    return free !== undefined && free < FREE_BYTES_MIN ? ["the disk of the data directory is almost full"] : [];
  }
}

function loopTroubles(loops: HealthPorts["loops"]): readonly string[] {
  const late = loops.lateNames();
  if (late.length === 0) return [];
  const more = late.length > NAMES_MAX ? ` and ${late.length - NAMES_MAX} more` : "";
  return [`background loops fail or hang: ${late.slice(0, NAMES_MAX).join(", ")}${more}`];
}

function replicaWarnings(answer: DatabaseStanding | undefined): readonly string[] {
  return (answer?.replicas ?? [])
    .filter(({ lagSeconds = 0 }) => lagSeconds > REPLICA_LAG_SECONDS_MAX)
    .map(({ name, lagSeconds = 0 }) => `the standby ${name} of the database is ${Math.round(lagSeconds)} s behind`);
}

function nothing(): undefined {
  return undefined;
}
