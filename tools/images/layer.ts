// Layers and archives as tar files that are the same byte by byte on every machine.
import { createHash, type Hash } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream, statSync } from "node:fs";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { Header, Pax } from "tar";
import { arrange, type Entry } from "./tree.ts";

const BLOCK_BYTES = 512;
/** A tar archive ends with two blocks of zeros (POSIX.1-2017, pax). */
const END = Buffer.alloc(2 * BLOCK_BYTES);
/** The time of each file: no two builds differ in it. It is the earliest that other formats of archives know. */
const FILE_TIME = new Date("1980-01-01T00:00:00Z");

export type Layer = {
  readonly file: string;
  /** SHA-256 of the compressed file, by which registries name it. */
  readonly digest: string;
  /** SHA-256 of the archive in it, by which an image names it. */
  readonly contentDigest: string;
  readonly bytes: number;
  readonly contentBytes: number;
};

/** Writes a compressed layer of these entries. */
export async function writeLayer(file: string, entries: readonly Entry[], compression: number): Promise<Layer> {
  const content = watcher();
  const compressed = watcher();
  const blocks = Readable.from(tarBlocks(arrange(entries)), { objectMode: false });
  const gzip = createGzip({ level: compression });
  await pipeline(blocks, content.stream, gzip, compressed.stream, createWriteStream(file));
  return {
    file,
    digest: compressed.digest(),
    contentDigest: content.digest(),
    bytes: compressed.bytes(),
    contentBytes: content.bytes(),
  };
}

/** Writes an archive that is not compressed. */
export async function writeTar(file: string, entries: readonly Entry[]): Promise<void> {
  const blocks = Readable.from(tarBlocks(arrange(entries)), { objectMode: false });
  await pipeline(blocks, createWriteStream(file));
}

function watcher(): { readonly stream: Transform; digest(): string; bytes(): number } {
  const hash: Hash = createHash("sha256");
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, digest: () => `sha256:${hash.digest("hex")}`, bytes: () => bytes };
}

async function* tarBlocks(entries: readonly Entry[]): AsyncGenerator<Uint8Array> {
  for (const entry of entries) {
    const size = sizeOf(entry);
    yield* headerOf(entry, size);
    if (entry.kind !== "file") continue;
    if (typeof entry.source === "string") yield* createReadStream(entry.source);
    else yield entry.source;
    if (size % BLOCK_BYTES > 0) yield Buffer.alloc(BLOCK_BYTES - (size % BLOCK_BYTES));
  }
  yield END;
}

function sizeOf(entry: Entry): number {
  if (entry.kind !== "file") return 0;
  return typeof entry.source === "string" ? statSync(entry.source).size : entry.source.length;
}

const TYPES = { file: "File", folder: "Directory", link: "SymbolicLink" } as const;

function headerOf(entry: Entry, size: number): readonly Uint8Array[] {
  const { uid, gid } = entry.owner ?? { uid: 0, gid: 0 };
  const fields = {
    path: entry.kind === "folder" ? `${entry.path}/` : entry.path,
    type: TYPES[entry.kind],
    mode: entry.kind === "link" ? 0o777 : entry.mode,
    mtime: FILE_TIME,
    size,
    uid,
    gid,
    ...(entry.kind === "link" && { linkpath: entry.target }),
  };
  const block = Buffer.alloc(BLOCK_BYTES);
  const needsMore = new Header(fields).encode(block, 0);
  // A name that is too long for the header stands in full in a block before it.
  return needsMore ? [new Pax(fields).encode(), block] : [block];
}

export async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  const stream = createReadStream(file).on("data", (chunk) => hash.update(chunk));
  await once(stream, "close");
  return hash.digest("hex");
}
