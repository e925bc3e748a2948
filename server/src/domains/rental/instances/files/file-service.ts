import { posix } from "node:path";
import type { Readable } from "node:stream";
import ssh2, { type FileEntryWithStats, type SFTPWrapper, type Stats } from "ssh2";
import { AppError, conflict, invalid } from "../../../../base/errors.ts";
import { ask, look, noSuchFile, order, quoted, readEntries } from "./sftp.ts";

const { OPEN_MODE } = ssh2.utils.sftp;
/** Entries of a folder that are listed; the rest is left out, and the answer says so. */
const ENTRIES_MAX = 5_000;
/** Links that are followed to say where they lead. */
const LINKS_MAX = 200;
const PERMISSION_BITS = 0o7777;
const CHUNK_BYTES = 256 * 1_024;
/** Room that a file system must have left for a failure not to be for lack of room. */
const ROOM_BYTES = 1_048_576;

type FileType = "file" | "folder" | "link" | "other";
export type Entry = {
  readonly name: string;
  readonly type: FileType;
  readonly size_bytes: number;
  readonly modified_at: number;
  readonly mode: string;
  readonly target: string | null;
  readonly leads_to: FileType | null;
  readonly is_addressable: boolean;
};

/** The entries of a folder by name, as many as are listed. */
export async function listFolder(sftp: SFTPWrapper, path: string) {
  const stats = await look(sftp, path);
  if (stats === undefined) throw noSuchFile(path);
  if (!(stats.isSymbolicLink() ? await follow(sftp, path) : stats).isDirectory()) {
    throw conflict("not_a_folder", `${quoted(path)} is no folder.`);
  }
  const handle = await ask<Buffer>((answer) => sftp.opendir(path, answer));
  const found: FileEntryWithStats[] = [];
  let isComplete = false;
  while (!isComplete && found.length <= ENTRIES_MAX) {
    const more = await readEntries(sftp, handle);
    isComplete = more.length === 0;
    found.push(...more.filter(({ filename }) => filename !== "." && filename !== ".."));
  }
  isComplete &&= found.length <= ENTRIES_MAX;
  await order((answer) => sftp.close(handle, answer));
  const shown = found.slice(0, ENTRIES_MAX).toSorted((a, b) => (a.filename < b.filename ? -1 : 1));
  const links = shown.filter(({ attrs }) => typeOf(attrs) === "link").slice(0, LINKS_MAX);
  const targets = new Map(
    await Promise.all(
      links.map(async ({ filename }) => [filename, await readLink(sftp, posix.join(path, filename))] as const),
    ),
  );
  return { entries: shown.map((entry) => viewEntry(entry, targets.get(entry.filename))), isComplete };
}

type Link = { readonly target: string; readonly leadsTo: FileType | null };

function viewEntry({ filename, attrs }: FileEntryWithStats, link: Link | undefined): Entry {
  return {
    name: filename,
    type: typeOf(attrs),
    size_bytes: attrs.size,
    modified_at: attrs.mtime,
    mode: (attrs.mode & PERMISSION_BITS).toString(8).padStart(4, "0"),
    target: link?.target ?? null,
    leads_to: link?.leadsTo ?? null,
    // A name that is no text has this character for what cannot be shown, and no path names it.
    is_addressable: !filename.includes("\u{FFFD}"),
  };
}

function typeOf(stats: Pick<Stats, "mode">): FileType {
  switch (stats.mode & 0o170000) {
    case 0o100000:
      return "file";
    case 0o040000:
      return "folder";
    case 0o120000:
      return "link";
    default:
      return "other";
  }
}

async function readLink(sftp: SFTPWrapper, path: string): Promise<Link | undefined> {
  try {
    const target = await ask<string>((answer) => sftp.readlink(path, answer));
    const stats = await follow(sftp, path).catch(() => undefined);
    return { target, leadsTo: stats === undefined ? null : typeOf(stats) };
  } catch {
    // It was deleted meanwhile.
    return undefined;
  }
}

function follow(sftp: SFTPWrapper, path: string): Promise<Stats> {
  return ask<Stats>((answer) => sftp.stat(path, answer));
}

/** Opens a file for a download: its size now, and its bytes up to that. */
export async function openFile(sftp: SFTPWrapper, path: string) {
  const stats = await follow(sftp, path);
  if (typeOf(stats) !== "file") {
    const what = typeOf(stats) === "folder" ? "a folder: list it, or copy it with `berth copy`" : "no file with bytes";
    throw conflict("not_a_file", `${quoted(path)} is ${what}.`);
  }
  const handle = await ask<Buffer>((answer) => sftp.open(path, OPEN_MODE.READ, answer));
  const { size } = stats;
  const end = Math.max(0, size - 1);
  const bytes: Readable = sftp.createReadStream(path, { handle, start: 0, end, highWaterMark: CHUNK_BYTES });
  return { sizeBytes: size, bytes };
}

export type Upload = {
  readonly path: string;
  readonly isOverwriting: boolean;
  /** A part of the name under which it is written until it is whole. */
  readonly token: string;
};

/**
 * Writes a file under another name beside it, and gives it its own once it is whole. Throws `file_exists` for a path that
 * names something already, unless a file may be replaced.
 */
export async function storeFile(
  sftp: SFTPWrapper,
  { path, isOverwriting, token }: Upload,
  bytes: Readable,
): Promise<void> {
  const folder = posix.dirname(path);
  const present = await look(sftp, path);
  if (present !== undefined && !isOverwriting) throw fileExists(path, "Repeat with overwrite=true to replace it.");
  if (present?.isDirectory() === true) throw fileExists(path, "It is a folder, which no upload replaces.");
  const above = await follow(sftp, folder).catch(() => undefined);
  if (above === undefined) throw noSuchFile(folder);
  if (!above.isDirectory()) throw conflict("not_a_folder", `${quoted(folder)} is no folder.`);
  const draft = posix.join(folder, `.berth-upload-${token}`);
  try {
    await writeAll(sftp, draft, bytes);
    await giveName(sftp, draft, path, isOverwriting);
  } catch (cause) {
    const isFull = !(cause instanceof AppError) && (await isDiskFull(sftp, folder));
    await order((answer) => sftp.unlink(draft, answer)).catch(() => {
      // It was not made, or its instance is gone.
    });
    if (isFull) throw conflict("disk_full", `The disk of the instance has no room for ${quoted(path)}.`, { cause });
    throw cause;
  }
}

/** Writes of one file that are under way at once. */
const WRITES_MAX = 8;

/** Writes a new file. The library's stream for that does not end when the bytes break off. */
async function writeAll(sftp: SFTPWrapper, path: string, bytes: AsyncIterable<Buffer>): Promise<void> {
  const handle = await ask<Buffer>((answer) => sftp.open(path, "wx", answer));
  try {
    const underWay: Promise<void>[] = [];
    let position = 0;
    for await (const chunk of bytes) {
      const at = position;
      position += chunk.length;
      const written = order((answer) => sftp.write(handle, chunk, 0, chunk.length, at, answer));
      // A failure is met when its turn comes, if nothing failed before.
      written.catch(() => {});
      underWay.push(written);
      if (underWay.length >= WRITES_MAX) await underWay.shift();
    }
    await Promise.all(underWay);
  } finally {
    await order((answer) => sftp.close(handle, answer));
  }
}

async function giveName(sftp: SFTPWrapper, draft: string, path: string, isOverwriting: boolean): Promise<void> {
  if (isOverwriting) {
    try {
      return await order((answer) => sftp.ext_openssh_rename(draft, path, answer));
    } catch {
      // A server without that request has no rename over what is there.
      await order((answer) => sftp.unlink(path, answer)).catch(() => {});
    }
  }
  try {
    // This request fails when the name was taken meanwhile.
    await order((answer) => sftp.rename(draft, path, answer));
  } catch (cause) {
    if ((await look(sftp, path)) !== undefined) throw fileExists(path, "It was made during the upload.");
    throw cause;
  }
}

async function isDiskFull(sftp: SFTPWrapper, folder: string): Promise<boolean> {
  try {
    const facts: unknown = await ask<unknown>((answer) => sftp.ext_openssh_statvfs(folder, answer));
    if (typeof facts !== "object" || facts === null) return false;
    const [blocks, size, inodes] = ["f_bavail", "f_frsize", "f_favail"].map((name) => Number(Reflect.get(facts, name)));
    return (blocks ?? 0) * (size ?? 0) < ROOM_BYTES || inodes === 0;
  } catch {
    return false;
  }
}

export async function makeFolder(sftp: SFTPWrapper, path: string): Promise<void> {
  if ((await look(sftp, path)) !== undefined) throw fileExists(path, "Take another name.");
  await order((answer) => sftp.mkdir(path, answer));
}

/** Deletes a file, a link without what it leads to, or an empty folder. */
export async function deleteEntry(sftp: SFTPWrapper, path: string): Promise<void> {
  const stats = await look(sftp, path);
  if (stats === undefined) throw noSuchFile(path);
  if (!stats.isDirectory()) return order((answer) => sftp.unlink(path, answer));
  const handle = await ask<Buffer>((answer) => sftp.opendir(path, answer));
  const names = [];
  // The first entries of a folder are itself and the one above it.
  for (let more = await readEntries(sftp, handle); more.length > 0 && names.length === 0;) {
    names.push(...more.filter(({ filename }) => filename !== "." && filename !== ".."));
    more = await readEntries(sftp, handle);
  }
  await order((answer) => sftp.close(handle, answer));
  if (names.length > 0) {
    throw conflict("folder_not_empty", `${quoted(path)} is not empty. Delete what is in it first, or use a terminal.`);
  }
  await order((answer) => sftp.rmdir(path, answer));
}

function fileExists(path: string, advice: string): AppError {
  return conflict("file_exists", `There is something at ${quoted(path)} already. ${advice}`);
}

/** The refusal of a body that is longer than uploads may be. */
export function tooLong(limitBytes: number): AppError {
  return invalid("path", `An upload has at most ${limitBytes} bytes. Use berth copy for more.`, "file_too_large");
}
