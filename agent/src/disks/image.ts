import { mkdir, open, rename, rm, rmdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type Result } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";
import { findLoopDevices, readMounts } from "./mount-table.ts";
import type { RunProgram } from "../base/programs.ts";

/** The programs and the log that work on images needs. */
export type ImageTools = {
  readonly run: RunProgram;
  readonly clock: Clock;
  readonly log: Log;
  /** No image is made on a file system with less room than this: full hosts lose what renters write. */
  readonly reserveBytes: number;
};

/** A file that holds a file system of its own, which cannot grow beyond the size of the file, and where it is shown. */
export type Image = { readonly file: string; readonly mountPoint: string };

const MOUNT_TIMEOUT_MS = 60_000;
/** A check reads at most the metadata, but of a large disk on a slow host. */
const CHECK_TIMEOUT_MS = 900_000;
/** Exit codes of the check: up to the first all errors were repaired, from there to the second some could not be. */
const MENDED_CODE = 2;
const DAMAGED_CODE_MAX = 15;
/**
 * Looks at an unmounted image until it is released: a container that is just starting may hold its mount for a moment.
 */
const RELEASE_ATTEMPTS = 100;
const RELEASE_ATTEMPT_MS = 50;

/** Mount options: no device files, no programs with other users' rights; deleted blocks go back to the host. */
const MOUNT_OPTIONS = "loop,nodev,nosuid,discard,noinit_itable,errors=remount-ro";

/** Makes the image unless it is there. It appears under its name only when it is whole. */
export async function makeImage(tools: ImageTools, file: string, sizeBytes: number): Promise<Result<"made" | "kept">> {
  if (await exists(file)) return succeed("kept");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const room = await statfs(dirname(file));
  if (room.bavail * room.bsize < tools.reserveBytes) {
    return fail("refused", "the host has no room left for another disk: try another machine", "host");
  }
  const draft = draftOf(file);
  const handle = await open(draft, "w", 0o600);
  // A file of holes: it takes only as much of the host as is written.
  await handle.truncate(sizeBytes);
  await handle.close();
  // The inode tables of a file of holes are zero already.
  const options = ["-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard"];
  const { code, output } = await tools.run("mkfs.ext4", ["-q", "-F", "-m", "0", ...options, draft], MOUNT_TIMEOUT_MS);
  if (code !== 0) {
    await rm(draft, { force: true });
    return fail("refused", `the host could not make a file system for the disk: ${lastLine(output)}`, "host");
  }
  await rename(draft, file);
  return succeed("made");
}

/** Shows the image at its mount point, unless it is shown already. One that was left in disorder is repaired first. */
export async function mountImage(tools: ImageTools, { file, mountPoint }: Image): Promise<Result<void>> {
  const present = (await readMounts()).findLast((entry) => entry.mountPoint === mountPoint);
  if (present && !present.isStopped) return succeed(undefined);
  // A full host stops the file systems on it at their next write. They come back as after a power cut: checked and
  // mounted again.
  if (present) {
    const released = await unmountImage(tools, { file, mountPoint });
    if (!released.ok) return released;
  }
  await mkdir(mountPoint, { recursive: true, mode: 0o700 });
  // Somebody may have it mounted still, such as a container that is about to end: then it must not be written to.
  if ((await findLoopDevices(file)).length === 0) {
    const checked = await checkFileSystem(tools, file);
    if (!checked.ok) return checked;
  }
  // Private: what the container engine mounts inside must not appear at a second place.
  const args = ["--make-private", "-t", "ext4", "-o", MOUNT_OPTIONS, file, mountPoint];
  const { code, output } = await tools.run("mount", args, MOUNT_TIMEOUT_MS);
  if (code === 0) return succeed(undefined);
  return fail("refused", `the host could not mount the disk: ${lastLine(output)}`, "host");
}

async function checkFileSystem({ run, log }: ImageTools, file: string): Promise<Result<void>> {
  const { code, output } = await run("e2fsck", ["-p", file], CHECK_TIMEOUT_MS);
  if (code <= MENDED_CODE) return succeed(undefined);
  log.warn({ file, code, output }, "a file system could not be repaired");
  if (code > DAMAGED_CODE_MAX) return fail("refused", `the host could not check the disk: ${lastLine(output)}`, "host");
  return fail("refused", "the disk's file system is damaged beyond repair: destroy it, or ask the host for help");
}

/**
 * Takes the image away from everywhere on this host, and returns when no loop device shows it any more. Succeeds when it
 * was not mounted; fails while a container uses it.
 */
export async function unmountImage(tools: ImageTools, { file, mountPoint }: Image): Promise<Result<void>> {
  const devices = new Set((await findLoopDevices(file)).map((loop) => loop.device));
  const mounts = await readMounts();
  const own = mounts.filter((entry) => entry.mountPoint === mountPoint || devices.has(entry.device));
  const isInUse = mounts.some((entry) => !own.includes(entry) && own.some((one) => isBelow(entry, one)));
  if (isInUse) return fail("conflict", "a container still uses the disk");
  // Newer mounts may lie on older ones.
  for (const entry of own.toReversed()) {
    const { code, output } = await tools.run("umount", [entry.mountPoint], MOUNT_TIMEOUT_MS);
    if (code !== 0) return fail("conflict", `the host could not unmount the disk: ${lastLine(output)}`);
  }
  for (let attempt = 0; attempt < RELEASE_ATTEMPTS; attempt += 1) {
    if ((await findLoopDevices(file)).length === 0) return succeed(undefined);
    await tools.clock.sleep(RELEASE_ATTEMPT_MS);
  }
  return fail("conflict", "a container still uses the disk");
}

/** Unmounts and deletes an image; parts that are gone already are no failure. */
export async function deleteImage(tools: ImageTools, image: Image): Promise<Result<void>> {
  const unmounted = await unmountImage(tools, image);
  if (!unmounted.ok) return unmounted;
  await rm(draftOf(image.file), { force: true });
  await rm(image.file, { force: true });
  await removeMountPoint(image);
  return succeed(undefined);
}

/** Removes an empty folder; files in it would not be the agent's. */
export async function removeMountPoint({ mountPoint }: Image): Promise<void> {
  if (await exists(mountPoint)) await rmdir(mountPoint);
}

/** Bytes in use on a mounted image; undefined when it is not mounted. */
export async function usedBytesOf(mountPoint: string): Promise<number | undefined> {
  if (!(await isMounted(mountPoint))) return undefined;
  const { blocks, bfree, bsize } = await statfs(mountPoint);
  return (blocks - bfree) * bsize;
}

/** True for a folder on another file system than the folder above it. */
export async function isMounted(mountPoint: string): Promise<boolean> {
  const [here, above] = await Promise.all(
    [mountPoint, dirname(mountPoint)].map((path) => stat(path).catch(ignoreMissing)),
  );
  return here !== undefined && here.dev !== above?.dev;
}

export async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ignoreMissing)) !== undefined;
}

/** For `catch`: a missing file is undefined, every other failure stays one. */
export function ignoreMissing(cause: unknown): undefined {
  if (cause instanceof Error && "code" in cause && (cause.code === "ENOENT" || cause.code === "ENOTDIR")) return;
  throw cause;
}

/**
 * Turns an error of the system, such as a full disk, into a failure with its text; a programming error stays thrown.
 */
export async function attempt<T>(work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && "syscall" in cause)) throw cause;
    return fail("refused", `the host's storage failed: ${cause.message}`);
  }
}

export function lastLine(output: string): string {
  return output.split("\n").at(-1) || "no reason was given";
}

function draftOf(file: string): string {
  return `${file}.new`;
}

function isBelow(entry: { readonly mountPoint: string }, above: { readonly mountPoint: string }): boolean {
  return entry.mountPoint.startsWith(`${above.mountPoint}/`);
}
