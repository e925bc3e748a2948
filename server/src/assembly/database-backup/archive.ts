import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, Header } from "tar";
import type { BackupEntry } from "../../db/embedded/base-backup.ts";

const BLOCK_BYTES = 512;
/** A tar archive ends with two blocks of zeros (POSIX.1-2017, pax). */
const END = Buffer.alloc(2 * BLOCK_BYTES);
/** The quickest: pages of a database shrink to a fifth with it, and higher levels gain a tenth of that. */
const GZIP_LEVEL = 1;

/**
 * Writes entries as a compressed tar archive that its owner alone may read. The file has another name until it is whole
 * and on the disk and `check` has passed, so that a backup that was cut short is never taken for one. Returns its size in bytes.
 */
export async function writeArchive(
  file: string,
  entries: AsyncIterable<BackupEntry>,
  { check, signal }: { readonly check: (draft: string) => Promise<void>; readonly signal: AbortSignal },
): Promise<number> {
  const draft = `${file}.unfinished`;
  try {
    const blocks = Readable.from(tarBlocks(entries), { objectMode: false });
    const target = createWriteStream(draft, { mode: 0o600, flush: true });
    await pipeline(blocks, createGzip({ level: GZIP_LEVEL }), target, { signal });
    await check(draft);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await flushFolder(path.dirname(file));
  const handle = await open(file, "r");
  try {
    return (await handle.stat()).size;
  } finally {
    await handle.close();
  }
}

/** Unpacks an archive into a folder that exists. A file that is no archive, or was cut short, is refused before. */
export async function unpackArchive(file: string, folder: string): Promise<void> {
  try {
    await pipeline(createReadStream(file), createGunzip(), async (bytes) => {
      for await (const _ of bytes);
    });
  } catch (error) {
    throw new Error(`${file} is damaged or was cut short; take another backup.`, { cause: error });
  }
  await extract({ file, cwd: folder, strict: true, preserveOwner: false, noMtime: true });
}

async function* tarBlocks(entries: AsyncIterable<BackupEntry>): AsyncGenerator<Uint8Array> {
  for await (const { name, isFolder, size, content } of entries) {
    yield headerOf(name, isFolder, size);
    yield* content;
    if (size % BLOCK_BYTES > 0) yield Buffer.alloc(BLOCK_BYTES - (size % BLOCK_BYTES));
  }
  yield END;
}

function headerOf(name: string, isFolder: boolean, size: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const kind = isFolder ? { type: "Directory" as const, mode: 0o700 } : { type: "File" as const, mode: 0o600 };
  const needsMore = new Header({ path: isFolder ? `${name}/` : name, size, ...kind }).encode(block, 0);
  // Names in a cluster are short, and its files have at most 1 GB.
  if (needsMore) throw new Error(`${name} does not fit a tar header`);
  return block;
}

async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
