import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database, DatabaseConfig } from "../../db/connect.ts";
import { hasOtherConnections } from "../../db/inspection.ts";
import { withTransaction } from "../../db/transaction.ts";
import { expectNewerRuns, findLastInstanceId } from "../../domains/rental/instances/for-assembly.ts";
import { noteRestore, RESTORE_FRESH_MS } from "../../domains/servers/index.ts";
import { hasFile } from "../files.ts";
import { lockDataDir } from "../lock.ts";
import { unpackArchive } from "./archive.ts";
import { inspect, inspectEmbedded, requireSecret, type Inspection } from "./inspect.ts";
import { BESIDE, readEndOfBackup } from "./manifest.ts";

export type RestoreRequest = {
  readonly file: string;
  readonly dataDir: string;
  /** The server's secret where the environment gives it. */
  readonly secret: string | undefined;
  /** True to put a database aside that the data directory has already. */
  readonly isReplacing: boolean;
};

export type RestoreResult = {
  /** The state of the database is that of this moment. */
  readonly backupAt: Date;
  readonly inspection: Inspection;
  /** The folder of what the data directory had before; undefined where it had no database. */
  readonly asideFolder: string | undefined;
};

type Means = { readonly clock: Clock; readonly log: Log };

/** How far the chain of facts went is known from the restored database; a later head would accuse it. */
const FACT_HEAD_FILE = "fact-head";

/**
 * Puts the database of a backup into a data directory, ready for the next start of the server, and audits it. What the
 * directory had before is kept aside. Throws an Error with one sentence for people; the directory is then as it was.
 */
export async function restore(
  { file, dataDir, secret, isReplacing }: RestoreRequest,
  { clock, log }: Means,
): Promise<RestoreResult> {
  if (!(await hasFile(file))) throw new Error(`There is no file ${file}.`);
  const lock = await lockDataDir(dataDir);
  if (lock.kind === "held") throw new Error(`A server runs on ${dataDir}. Stop it, or choose another --data-dir.`);
  // A folder of the same file system, so that the pieces are moved and not copied.
  const draft = await mkdtemp(path.join(dataDir, "restore-unfinished-"));
  try {
    const isOccupied = await hasFile(path.join(dataDir, "postgres"));
    if (isOccupied && !isReplacing) {
      throw new Error(`${dataDir} has a database already. Choose another --data-dir, or keep it aside with --replace.`);
    }
    await chmod(draft, 0o711);
    await unpackArchive(file, draft);
    const backupAt = await readEndOfBackup(draft);
    const inspection = await inspectEmbedded(draft, {
      secret,
      isDurable: true,
      clock,
      log,
      prepare: (database) => note(database, clock, backupAt),
    });
    const asideFolder = isOccupied ? await putAside(dataDir, clock.now()) : undefined;
    for (const name of BESIDE) {
      if (await hasFile(path.join(draft, name))) await rename(path.join(draft, name), path.join(dataDir, name));
    }
    // The database comes last: a directory without one is restored again.
    await rename(path.join(draft, "postgres"), path.join(dataDir, "postgres"));
    return { backupAt, inspection, asideFolder };
  } finally {
    await rm(draft, { recursive: true, force: true });
    await lock.release();
  }
}

/**
 * Prepares an external database that was restored to an earlier moment: notes the restore, and audits it. No server may
 * use it meanwhile. Throws an Error with one sentence for people.
 */
export async function acceptRestore(
  { connection, dataDir, secret }: Omit<RestoreRequest, "file" | "isReplacing"> & { connection: DatabaseConfig },
  { clock, log }: Means,
): Promise<Inspection> {
  const key = await requireSecret(dataDir, secret);
  const prepare = async (database: Database) => {
    if (await hasOtherConnections(database)) {
      throw new Error("A server uses the database of DATABASE_URL. Stop all of them first.");
    }
    await note(database, clock, undefined);
  };
  const inspection = await inspect(connection, key, { secret, prepare, clock, log });
  await rm(path.join(dataDir, FACT_HEAD_FILE), { force: true });
  return inspection;
}

async function note(database: Database, clock: Clock, backupAt: Date | undefined): Promise<void> {
  await withTransaction(database, clock, async (tx) => {
    await noteRestore(tx, { backupAt, lastInstanceId: await findLastInstanceId(tx.db) });
    await expectNewerRuns(tx, new Date(tx.now.getTime() + RESTORE_FRESH_MS));
  });
}

async function putAside(dataDir: string, now: Date): Promise<string> {
  const folder = path.join(dataDir, `before-restore-${now.toISOString().replaceAll(/[:.]/g, "-")}`);
  await mkdir(folder, { mode: 0o700 });
  for (const name of ["postgres", FACT_HEAD_FILE, ...BESIDE]) {
    if (await hasFile(path.join(dataDir, name))) await rename(path.join(dataDir, name), path.join(folder, name));
  }
  return folder;
}
