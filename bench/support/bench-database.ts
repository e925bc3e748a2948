import { randomBytes } from "node:crypto";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { systemClock } from "../../server/src/base/clock.ts";
import { createLog } from "../../server/src/base/log.ts";
import { connect, type Database } from "../../server/src/db/connect.ts";
import { startEmbeddedPostgres } from "../../server/src/db/embedded/postgres.ts";
import { migrate } from "../../server/src/db/migrate.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { bootstrapAdmin } from "../../server/src/domains/people/accounts/for-assembly.ts";
import { processorMsWithChildren } from "./processes.ts";
import { copyFreshData } from "../../test/support/database/fresh-data.ts";
import { aFactKeeper } from "../../test/support/database/facts.ts";

const MIGRATIONS = path.join(import.meta.dirname, "../../server/migrations");
const POSTMASTER_PID = "postgres/cluster/postmaster.pid";
const CONNECTIONS = 8;

/** Processor time of this process, which does what a server does, and of PostgreSQL, in milliseconds. */
export type Used = { readonly serverMs: number; readonly postgresMs: number };

export type BenchDatabase = {
  readonly database: Database;
  readonly dataDir: string;
  /** Runs `work` and returns what it took: by the wall, and of the processors. */
  measure<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly wallMs: number; readonly used: Used }>;
  stop(): Promise<void>;
};

/** A durable embedded PostgreSQL of its own with the tables of the server, for what is measured in this process. */
export async function startBenchDatabase(): Promise<BenchDatabase> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "berth-bench-"));
  await chmod(dataDir, 0o711);
  await copyFreshData(dataDir);
  const log = createLog("silent");
  const postgres = await startEmbeddedPostgres({ dataDir, clock: systemClock, log });
  const { connectionString } = postgres;
  await migrate({ connectionString }, { directory: MIGRATIONS, clock: systemClock });
  const database = connect({ connectionString, max: CONNECTIONS }, log, aFactKeeper());
  await withTransaction(database, systemClock, (tx) =>
    bootstrapAdmin(tx, { email: "admin@bench.example", hasKey: false, random: randomBytes }),
  );
  const [firstLine = ""] = (await readFile(path.join(dataDir, POSTMASTER_PID), "utf8")).split("\n");
  const postgresId = Number(firstLine);
  return {
    database,
    dataDir,
    async measure(work) {
      const [own, postgresBefore, startMs] = [
        process.cpuUsage(),
        processorMsWithChildren(postgresId),
        performance.now(),
      ];
      const result = await work();
      const wallMs = performance.now() - startMs;
      const { user, system } = process.cpuUsage(own);
      const postgresMs = processorMsWithChildren(postgresId) - postgresBefore;
      return { result, wallMs, used: { serverMs: (user + system) / 1000, postgresMs } };
    },
    async stop() {
      await database.close();
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
