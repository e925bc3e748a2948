import { constants } from "node:fs";
import { mkdir, open, readdir, readFile, rm, stat, statfs, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import { writeDurably } from "../base/durable-file.ts";

export type DiskFacts = {
  /** Space that renters can be promised: free space and theirs already, less the machine's own need. */
  readonly bytes: number;
  readonly name: string;
  readonly mbPerS: number;
};

/** Part of the disk that is kept for images, logs and the system: a full disk stops everybody. */
const RESERVE_SHARE = 0.1;
const RESERVE_LIMIT_BYTES = 20e9;
/** Folders of renters' disks and volumes in the state folder; they are sparse files. */
const TENANT_FOLDERS = ["disks", "volumes"] as const;
const BLOCK_BYTES = 512;

/** Facts of the file system that holds the state folder, with the disks of instances. */
export async function readDisk(stateDir: string, clock: Clock): Promise<DiskFacts> {
  await mkdir(stateDir, { recursive: true });
  const [{ bavail, bsize }, { dev }, keptBytes] = await Promise.all([
    statfs(stateDir),
    stat(stateDir),
    tenantBytes(stateDir),
  ]);
  const freeBytes = bavail * bsize;
  const [name, mbPerS] = await Promise.all([deviceName(dev), diskSpeed(stateDir, dev, clock)]);
  return { bytes: offerableBytes(freeBytes, keptBytes), name, mbPerS };
}

export function offerableBytes(freeBytes: number, keptBytes: number): number {
  const whole = freeBytes + keptBytes;
  return Math.floor(whole - Math.min(whole * RESERVE_SHARE, RESERVE_LIMIT_BYTES));
}

/** True when the free space of the folder's file system is less than the part for images, logs and the system. */
export async function isDiskLow(folder: string): Promise<boolean> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return bavail * bsize < Math.min(blocks * bsize * RESERVE_SHARE, RESERVE_LIMIT_BYTES) / 2;
}

/** Bytes of renters' files at present: they are theirs already, and must not leave the offer with each restart. */
export async function tenantBytes(stateDir: string): Promise<number> {
  let blocks = 0;
  for (const folder of TENANT_FOLDERS) {
    const path = join(stateDir, folder);
    for (const name of await readdir(path).catch(() => [])) {
      const found = await stat(join(path, name)).catch(() => undefined);
      if (found?.isFile()) blocks += found.blocks;
    }
  }
  return blocks * BLOCK_BYTES;
}

/** The model of the device, or its name in the kernel; empty where a file system is on none that could be named. */
async function deviceName(dev: number): Promise<string> {
  const { major, minor } = splitDevice(dev);
  const base = `/sys/dev/block/${major}:${minor}`;
  for (const path of [`${base}/device/model`, `${base}/../device/model`, `${base}/dm/name`, `${base}/md/level`]) {
    const text = (await readFile(path, "utf8").catch(() => "")).trim();
    if (text !== "") return text.slice(0, 255);
  }
  const event = await readFile(`${base}/uevent`, "utf8").catch(() => "");
  return /^DEVNAME=(.+)$/m.exec(event)?.[1]?.slice(0, 255) ?? "";
}

/** The two numbers of a device, which the kernel packs into one. */
export function splitDevice(dev: number): { readonly major: number; readonly minor: number } {
  const whole = BigInt(dev);
  const major = ((whole >> 8n) & 0xfffn) | ((whole >> 32n) & ~0xfffn);
  const minor = (whole & 0xffn) | ((whole >> 12n) & ~0xffn & 0xffffffffn);
  return { major: Number(major), minor: Number(minor) };
}

const SPEED_FILE = "disk-speed.json";
const TRIAL_FILE = "disk-speed.trial";
const CHUNK_BYTES = 4 * 1024 * 1024;
const TRIAL_CHUNKS = 64;
const WRITE_LIMIT_MS = 350;
const READ_LIMIT_MS = 250;
const MS_PER_DAY = 86_400_000;
const WASM_PAGE_BYTES = 65_536;
/** Speed that any old disk reaches, for a disk that could not be measured. */
const UNKNOWN_MB_PER_S = 100;

/**
 * Megabytes per second that are read from the disk in a row, past the system's memory. Measured within a second, and once
 * a day at most: a trial at each start would wear and slow the disk under running tenants.
 */
async function diskSpeed(stateDir: string, dev: number, clock: Clock): Promise<number> {
  const day = Math.floor(clock.now().getTime() / MS_PER_DAY);
  const path = join(stateDir, SPEED_FILE);
  const known = parseSpeed(await readFile(path, "utf8").catch(() => ""));
  if (known?.dev === dev && known.day === day) return known.mbPerS;
  try {
    const mbPerS = await measureDisk(join(stateDir, TRIAL_FILE), clock);
    writeDurably(path, JSON.stringify({ dev, day, mb_per_s: mbPerS }));
    return mbPerS;
  } catch {
    // A file system without direct access, or a full one: the last known speed is the best there is.
    return known?.dev === dev ? known.mbPerS : UNKNOWN_MB_PER_S;
  }
}

type Speed = { readonly dev: number; readonly day: number; readonly mbPerS: number };

export function parseSpeed(text: string): Speed | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    const { dev, day, mb_per_s: mbPerS } = value as Record<string, unknown>;
    const isWhole = typeof dev === "number" && typeof day === "number" && typeof mbPerS === "number" && mbPerS > 0;
    return isWhole ? { dev, day, mbPerS } : undefined;
  } catch {
    // No file, or half a file: it is measured again.
    return undefined;
  }
}

/** Writes a file and reads it back, both past the cache, and deletes it in any case. */
async function measureDisk(path: string, clock: Clock): Promise<number> {
  await rm(path, { force: true });
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_DIRECT;
  const file = await open(path, flags, 0o600);
  try {
    const chunk = alignedChunk();
    const written = await transfer(clock, WRITE_LIMIT_MS, TRIAL_CHUNKS, (at) => writeChunk(file, chunk, at));
    await file.datasync();
    const read = await transfer(clock, READ_LIMIT_MS, written.chunks, (at) => readChunk(file, chunk, at));
    const seconds = Math.max(read.ms, 0.001) / 1000;
    return Math.max(1, Math.round((read.chunks * CHUNK_BYTES) / 1e6 / seconds));
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/** The runtime has this class, although the types of Node.js lack it. */
declare const WebAssembly: {
  readonly Memory: new (size: { readonly initial: number }) => { readonly buffer: ArrayBuffer };
};

/** Direct transfers want memory that begins at a page, which only this kind surely does. The content is no pattern. */
function alignedChunk(): Buffer {
  const memory = new WebAssembly.Memory({ initial: CHUNK_BYTES / WASM_PAGE_BYTES });
  const chunk = Buffer.from(memory.buffer);
  for (let at = 0; at < chunk.length; at += 4) chunk.writeUInt32LE(Math.imul(at + 1, 2_654_435_761) >>> 0, at);
  return chunk;
}

async function transfer(
  clock: Clock,
  limitMs: number,
  count: number,
  move: (at: number) => Promise<void>,
): Promise<{ readonly chunks: number; readonly ms: number }> {
  const startMs = clock.monotonicMs();
  let chunks = 0;
  // At least one chunk is moved, also on a very slow disk.
  while (chunks < count && (chunks === 0 || clock.monotonicMs() - startMs < limitMs)) {
    await move(chunks * CHUNK_BYTES);
    chunks += 1;
  }
  return { chunks, ms: clock.monotonicMs() - startMs };
}

async function writeChunk(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  const { bytesWritten } = await file.write(chunk, 0, chunk.length, at);
  if (bytesWritten !== chunk.length) throw new Error("the disk took only a part");
}

async function readChunk(file: FileHandle, chunk: Buffer, at: number): Promise<void> {
  const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
  if (bytesRead !== chunk.length) throw new Error("the disk gave only a part");
}
