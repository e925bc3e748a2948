import { constants } from "node:fs";
import { open, readdir, readFile, realpath, type FileHandle } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { errorCode } from "./failure.ts";

/** One file or folder of a backup, below the cluster directory. The content has exactly `size` bytes. */
export type BackupEntry = {
  readonly name: string;
  readonly isFolder: boolean;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
};

export type BackupSource = {
  /** The cluster directory of a running PostgreSQL. */
  readonly cluster: string;
  readonly superuserUrl: string;
  /** A name for the reservation of the journal; different for backups that run at once. */
  readonly slot: string;
};

/** Folders that PostgreSQL fills again at its start (its manual, "Making a base backup using the low-level API"). */
const LEFT_EMPTY = new Set([
  "pg_wal",
  "pg_replslot",
  "pg_dynshmem",
  "pg_notify",
  "pg_serial",
  "pg_snapshots",
  "pg_stat_tmp",
  "pg_subtrans",
]);
const LEFT_OUT =
  /^(postmaster\.(pid|opts)|backup_label(\.old)?|tablespace_map(\.old)?|pg_internal\.init.*|pgsql_tmp.*)$/;
const SEGMENT = /^[0-9A-F]{24}$/;
const CHUNK_BYTES = 1 << 20;
const ZEROS = new Uint8Array(1 << 16);

/**
 * The files of a running cluster, one after the other, by PostgreSQL's own method for online backups: the files are read
 * while they change, and the journal from the start of the reading to its end makes them consistent when the copy starts.
 * Everything that was committed before the last entry is read is in the copy.
 */
export async function* takeBaseBackup({ cluster, superuserUrl, slot }: BackupSource): AsyncGenerator<BackupEntry> {
  // PostgreSQL ends the backup, and gives the journal free, when this connection ends in any way.
  const client = new pg.Client({ connectionString: superuserUrl, application_name: "berth-backup" });
  await client.connect();
  try {
    await client.query("select pg_create_physical_replication_slot($1, true, true)", [slot]);
    const started = await client.query<{ segment: string }>(
      "select pg_walfile_name(pg_backup_start('berth', fast => true)) as segment",
    );
    yield* readFolder(cluster, "");
    const stopped = await client.query<{ segment: string; labelfile: string }>(
      "select pg_walfile_name(lsn) as segment, labelfile from pg_backup_stop(wait_for_archive => false)",
    );
    yield fileOf("backup_label", Buffer.from(stopped.rows[0]?.labelfile ?? ""));
    yield* readJournal(cluster, started.rows[0]?.segment ?? "", stopped.rows[0]?.segment ?? "");
  } finally {
    await client.end();
  }
}

function fileOf(name: string, text: Buffer): BackupEntry {
  return { name, isFolder: false, size: text.length, content: chunks([text]) };
}

async function* chunks(list: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* list;
}

async function* readFolder(cluster: string, folder: string): AsyncGenerator<BackupEntry> {
  for (const entry of (await listFolder(path.join(cluster, folder))).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = path.posix.join(folder, entry.name);
    if (LEFT_OUT.test(entry.name)) continue;
    if (entry.isDirectory()) {
      yield { name, isFolder: true, size: 0, content: chunks([]) };
      if (!LEFT_EMPTY.has(name)) yield* readFolder(cluster, name);
    } else if (entry.isFile()) {
      yield* readOne(cluster, name);
    }
  }
}

async function* readJournal(cluster: string, first: string, last: string): AsyncGenerator<BackupEntry> {
  const names = (await readdir(path.join(cluster, "pg_wal"))).filter((name) => SEGMENT.test(name)).toSorted();
  // Names of one timeline are in the order of the journal.
  for (const name of names) if (name >= first && name <= last) yield* readOne(cluster, `pg_wal/${name}`);
}

/** A table that is dropped meanwhile takes its folder and its files with it; the journal says so too. */
async function listFolder(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function* readOne(cluster: string, name: string): AsyncGenerator<BackupEntry> {
  const file = await openIfThere(path.join(cluster, name));
  if (file === undefined) return;
  try {
    const { size } = await file.stat();
    yield { name, isFolder: false, size, content: readExactly(file, size) };
  } finally {
    await file.close();
  }
}

async function openIfThere(file: string): Promise<FileHandle | undefined> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Exactly `size` bytes of a file that may grow or shrink meanwhile: the journal repeats what is missing. */
async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  while (left > 0) {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, left));
    const { bytesRead } = await file.read({ buffer, position: size - left });
    if (bytesRead === 0) break;
    yield buffer.subarray(0, bytesRead);
    left -= bytesRead;
  }
  for (; left > 0; left -= Math.min(left, ZEROS.length)) yield ZEROS.subarray(0, Math.min(left, ZEROS.length));
}

/** The PostgreSQL that runs on a data directory, as another process of the same user finds it; undefined where none is. */
export async function findRunning(dataDir: string): Promise<BackupSource["superuserUrl"] | undefined> {
  try {
    const password = (await readFile(path.join(dataDir, "postgres.password"), "utf8")).trim();
    // A long path is a link to a short one, since the kernel takes 107 bytes.
    const socket = await realpath(path.join(dataDir, "postgres", "run"));
    return `postgresql://postgres:${password}@localhost:5432/postgres?host=${encodeURIComponent(socket)}&sslmode=disable`;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
