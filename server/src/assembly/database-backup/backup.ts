import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { findRunning, takeBaseBackup, type BackupEntry } from "../../db/embedded/base-backup.ts";
import { startEmbeddedPostgres } from "../../db/embedded/postgres.ts";
import { hasFile } from "../files.ts";
import { lockDataDir } from "../lock.ts";
import { unpackArchive, writeArchive } from "./archive.ts";
import { inspectEmbedded, type Inspection } from "./inspect.ts";
import { BESIDE, markers, readEndOfBackup } from "./manifest.ts";

export type BackupRequest = {
  readonly dataDir: string;
  /** The file that is made; it must not exist. */
  readonly file: string;
  /** The server's secret where the environment gives it. */
  readonly secret: string | undefined;
  readonly isVerified: boolean;
};

export type BackupResult = {
  readonly bytes: number;
  /** The findings in a copy that was restored from the backup; undefined where none was asked for. */
  readonly inspection: Inspection | undefined;
};

type Means = {
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the backup early; nothing of it is left then. */
  readonly signal: AbortSignal;
};

/**
 * Backs the embedded database up, while the server runs or not. The backup is unpacked beside its place, started and
 * audited before it gets its name, unless `isVerified` is false. Throws an Error with one sentence for people.
 */
export async function backUp(
  { dataDir, file, secret, isVerified }: BackupRequest,
  means: Means,
): Promise<BackupResult> {
  if (await hasFile(file)) throw new Error(`${file} exists already; give another name.`);
  if (!(await hasFile(path.join(dataDir, "postgres", "cluster", "PG_VERSION")))) {
    throw new Error(
      `There is no embedded database in ${dataDir}. Give --data-dir; an external database is backed up with PostgreSQL's own tools (docs/operate/backups.md).`,
    );
  }
  let inspection: Inspection | undefined;
  const check = async (draft: string) => {
    if (isVerified) inspection = await verify(draft, { secret, ...means });
  };
  const bytes = await withPostgres(dataDir, means, (superuserUrl) =>
    writeArchive(file, entriesOf(dataDir, superuserUrl, means.clock), { check, signal: means.signal }),
  );
  return { bytes, inspection };
}

/** Uses the PostgreSQL of the server that runs on the data directory, or starts it for the time of the backup. */
async function withPostgres<T>(dataDir: string, means: Means, work: (superuserUrl: string) => Promise<T>): Promise<T> {
  const lock = await lockDataDir(dataDir);
  if (lock.kind === "held") {
    const superuserUrl = await findRunning(dataDir);
    if (superuserUrl === undefined) {
      throw new Error(`A server runs on ${dataDir}, but not its embedded database; is DATABASE_URL set for it?`);
    }
    return work(superuserUrl);
  }
  try {
    const postgres = await startEmbeddedPostgres({ dataDir, ...means });
    try {
      return await work(postgres.superuserUrl);
    } finally {
      await postgres.stop();
    }
  } finally {
    await lock.release();
  }
}

async function* entriesOf(dataDir: string, superuserUrl: string, clock: Clock): AsyncGenerator<BackupEntry> {
  yield marker(markers.begin(clock.now()));
  for (const name of BESIDE) {
    if (await hasFile(path.join(dataDir, name))) yield textEntry(name, await readFile(path.join(dataDir, name)));
  }
  const cluster = path.join(dataDir, "postgres", "cluster");
  yield { name: "postgres", isFolder: true, size: 0, content: none() };
  yield { name: "postgres/cluster", isFolder: true, size: 0, content: none() };
  const slot = `berth_backup_${process.pid}`;
  for await (const entry of takeBaseBackup({ cluster, superuserUrl, slot })) {
    yield { ...entry, name: `postgres/cluster/${entry.name}` };
  }
  yield marker(markers.end(clock.now()));
}

function marker([name, content]: readonly [string, object]): BackupEntry {
  return textEntry(name, Buffer.from(`${JSON.stringify(content)}\n`));
}

function textEntry(name: string, text: Buffer): BackupEntry {
  return { name, isFolder: false, size: text.length, content: one(text) };
}

async function* one(text: Buffer): AsyncGenerator<Uint8Array> {
  yield text;
}

async function* none(): AsyncGenerator<Uint8Array> {}

/** Restores the archive into a folder beside it, reads and audits everything, and removes the folder. */
async function verify(
  archive: string,
  { secret, clock, log }: { readonly secret: string | undefined; readonly clock: Clock; readonly log: Log },
): Promise<Inspection> {
  const parent = path.dirname(archive);
  const folder = await mkdtemp(path.join(parent, ".berth-verify-"));
  try {
    // PostgreSQL's own user passes through; the files in it are private.
    await chmod(folder, 0o711);
    await unpackArchive(archive, folder);
    await readEndOfBackup(folder);
    return await inspectEmbedded(folder, { secret, isDurable: false, clock, log });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
