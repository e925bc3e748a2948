// The tar archives that agents send and unpack are those of busybox, which knows long names in the way of GNU only, and
// takes no extended headers. Names are kept byte for byte, as Latin-1: a file may have a name that is no UTF-8.

const BLOCK_BYTES = 512;
const END = Buffer.alloc(2 * BLOCK_BYTES);
const FIELDS = {
  name: [0, 100],
  size: [124, 12],
  checksum: [148, 8],
  type: [156, 1],
  link: [157, 100],
  magic: [257, 5],
  prefix: [345, 155],
} as const;
/** Types of entries that only hold the long name, or the long target of a link, of the entry after them. */
const [LONG_NAME, LONG_LINK] = ["L", "K"];
/** Extended headers, of the next entry and of all. */
const EXTENDED: ReadonlySet<string> = new Set(["x", "g"]);
/** A path on Linux has at most 4096 bytes. */
const LONG_BYTES_MAX = 8 * BLOCK_BYTES;
const NO_BYTES = Buffer.alloc(0);

export const HARD_LINK = "1";
const SYMBOLIC_LINK = "2";
export const FOLDER = "5";
const DEVICES: ReadonlySet<string> = new Set(["3", "4"]);

/** One entry of an archive. The body has to be read, or left alone, before the next entry is asked for. */
export type TarEntry = {
  /** One character: `0` a file, `1` a hard link, `2` a symbolic link, `3` and `4` devices, `5` a folder, `6` a pipe. */
  readonly type: string;
  /** The path as the archive has it, with a byte in each character. */
  readonly path: string;
  /** The target of a link; empty for any other entry. */
  readonly link: string;
  readonly header: Buffer;
  /** The bytes of the file with those that fill its last block. */
  readonly body: AsyncIterable<Buffer>;
};

/** Reads an archive entry by entry; throws an `Error` when it is no archive or breaks off. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry, void> {
  const input = new BlockReader(source);
  let longName: string | undefined;
  let longLink: string | undefined;
  while (true) {
    const header = await input.take(BLOCK_BYTES);
    if (header.every((byte) => byte === 0)) break;
    if (!hasRightSum(header)) throw new Error("the archive is damaged");
    const type = text(header, FIELDS.type) || "0";
    const sizeBytes = type === HARD_LINK || type === SYMBOLIC_LINK ? 0 : sizeOf(header);
    const bodyBytes = Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
    if (type === LONG_NAME || type === LONG_LINK) {
      if (bodyBytes > LONG_BYTES_MAX) throw new Error("the archive has a name that is too long");
      const body = (await input.take(bodyBytes)).subarray(0, sizeBytes).toString("latin1");
      const long = body.replace(/\0.*$/s, "");
      if (type === LONG_NAME) longName = long;
      else longLink = long;
      continue;
    }
    input.begin(bodyBytes);
    const isLink = type === HARD_LINK || type === SYMBOLIC_LINK;
    if (!EXTENDED.has(type)) {
      const link = isLink ? (longLink ?? text(header, FIELDS.link)) : "";
      yield { type, path: longName ?? shortPath(header), link, header, body: input.body() };
      longName = undefined;
      longLink = undefined;
    }
    await input.skip();
  }
  // Bytes after the end of the archive are read and dropped, so that the sender comes to its own end.
  await input.drop();
}

/** The head of an entry under another path or link target, or as another type; its body follows as it is. */
export function tarHead({
  header,
  type,
  path,
  link,
}: Pick<TarEntry, "header" | "type" | "path" | "link">): readonly Buffer[] {
  const copy = Buffer.from(header);
  set(copy, FIELDS.name, path);
  set(copy, FIELDS.link, link);
  set(copy, FIELDS.type, type);
  if (text(copy, FIELDS.magic).startsWith("ustar")) set(copy, FIELDS.prefix, "");
  if (type === HARD_LINK) setSize(copy, 0);
  sign(copy);
  return [
    ...(link.length > FIELDS.link[1] ? longNote(LONG_LINK, link) : []),
    ...(path.length > FIELDS.name[1] ? longNote(LONG_NAME, path) : []),
    copy,
  ];
}

export const TAR_END: Buffer = END;

/**
 * Passes an archive on without its devices. The layer of a container has a device for each file of the image that was
 * deleted there, and nobody but root could unpack one.
 */
export async function* withoutDevices(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  for await (const entry of readTar(source)) {
    if (DEVICES.has(entry.type)) continue;
    yield* tarHead(entry);
    yield* entry.body;
  }
  yield END;
}

function longNote(type: string, value: string): readonly Buffer[] {
  const bytes = Buffer.from(`${value}\0`, "latin1");
  const header = Buffer.alloc(BLOCK_BYTES);
  set(header, FIELDS.name, "././@LongLink");
  header.write("0000000\0" + "0000000\0" + "0000000\0", 100, "latin1");
  setSize(header, bytes.length);
  header.write("00000000000\0", 136, "latin1");
  set(header, FIELDS.type, type);
  header.write("ustar  \0", FIELDS.magic[0], "latin1");
  sign(header);
  const body = Buffer.alloc(Math.ceil(bytes.length / BLOCK_BYTES) * BLOCK_BYTES);
  bytes.copy(body);
  return [header, body];
}

type Field = readonly [at: number, length: number];

function text(header: Buffer, [at, length]: Field): string {
  return header.toString("latin1", at, at + length).replace(/\0.*$/s, "");
}

function set(header: Buffer, [at, length]: Field, value: string): void {
  header.fill(0, at, at + length);
  header.write(value.slice(0, length), at, "latin1");
}

/** The name with the folders of old UNIX archives before it. The GNU format keeps other facts in their place. */
function shortPath(header: Buffer): string {
  const isPlain = header.toString("latin1", FIELDS.magic[0], FIELDS.magic[0] + 6) === "ustar\0";
  const prefix = isPlain ? text(header, FIELDS.prefix) : "";
  return prefix === "" ? text(header, FIELDS.name) : `${prefix}/${text(header, FIELDS.name)}`;
}

/** The size in a header: octal digits, or a binary number after a byte with the highest bit set. */
function sizeOf(header: Buffer): number {
  const [at, length] = FIELDS.size;
  if (((header[at] ?? 0) & 0x80) === 0) return Number.parseInt(text(header, FIELDS.size).trim() || "0", 8) || 0;
  const size = Number(header.readBigUInt64BE(at + length - 8));
  if (!Number.isSafeInteger(size)) throw new Error("the archive is damaged");
  return size;
}

function setSize(header: Buffer, bytes: number): void {
  set(header, FIELDS.size, bytes.toString(8).padStart(11, "0"));
}

/** The sum of all bytes, with blanks for the sum itself. */
function sumOf(header: Buffer): number {
  const [at, length] = FIELDS.checksum;
  let sum = 0;
  for (let index = 0; index < BLOCK_BYTES; index += 1) {
    sum += index >= at && index < at + length ? 0x20 : (header[index] ?? 0);
  }
  return sum;
}

function hasRightSum(header: Buffer): boolean {
  return Number.parseInt(text(header, FIELDS.checksum).trim(), 8) === sumOf(header);
}

function sign(header: Buffer): void {
  header.write(`${sumOf(header).toString(8).padStart(6, "0")}\0 `, FIELDS.checksum[0], "latin1");
}

/** Reads a stream in pieces of wanted lengths. */
class BlockReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = NO_BYTES;
  #bodyBytes = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    let missing = length;
    while (missing > 0) {
      const part = await this.#some(missing);
      missing -= part.length;
      parts.push(part);
    }
    return Buffer.concat(parts);
  }

  /** The next bytes, so many, are a body. */
  begin(bytes: number): void {
    this.#bodyBytes = bytes;
  }

  async *body(): AsyncGenerator<Buffer, void> {
    while (this.#bodyBytes > 0) {
      const part = await this.#some(this.#bodyBytes);
      this.#bodyBytes -= part.length;
      yield part;
    }
  }

  async skip(): Promise<void> {
    while (this.#bodyBytes > 0) this.#bodyBytes -= (await this.#some(this.#bodyBytes)).length;
  }

  async drop(): Promise<void> {
    while ((await this.#source.next()).done !== true);
  }

  async #some(limit: number): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw new Error("the archive breaks off");
      this.#rest = next.value;
    }
    const part = this.#rest.subarray(0, limit);
    this.#rest = this.#rest.subarray(part.length);
    return part;
  }
}
