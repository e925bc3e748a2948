import { chmod, chown, lstat, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { fail, succeed, type Result } from "../engine/engine.ts";
import { exists, ignoreMissing, lastLine, type ImageTools } from "./image.ts";
import { readMounts, type MountEntry } from "./mount-table.ts";

/**
 * A container's writes lie on the disk of its instance. The engine (overlay2) keeps them in a folder `diff` within a
 * folder of the container, beside `work` and two small files about the layers below. That folder is copied onto the
 * disk before the first start, and the copy is mounted over the original. The engine notices nothing, and its writes
 * end where the disk ends.
 */

const MOUNT_TIMEOUT_MS = 60_000;
const COPY_TIMEOUT_MS = 600_000;
/** Files of the engine that say what lies below the layer. */
const NOTES = ["link", "lower"] as const;

/** Puts the layer of a container that does not run onto the mounted disk. What an earlier container wrote is kept. */
export async function attachLayerTo(tools: ImageTools, disk: string, layerDirectory: string): Promise<Result<void>> {
  const layer = join(disk, "layer");
  const bound = await layerMounts(disk);
  if (bound.some((entry) => entry.mountPoint === layerDirectory)) return succeed(undefined);
  for (const note of NOTES) {
    if (!(await exists(join(layerDirectory, note)))) {
      return fail("refused", "the container engine does not keep its layers in the way of overlay2");
    }
  }
  // A disk belongs to one container at a time; what is left of an earlier one is in nobody's use, or this fails.
  for (const entry of bound) {
    const released = await unmountLayer(tools, entry.mountPoint);
    if (!released.ok) return released;
  }
  const moved = (await exists(layer))
    ? await moveIntoKept(tools, layerDirectory, layer)
    : await moveIntoFresh(tools, layerDirectory, layer);
  if (!moved.ok) return moved;
  const args = ["--bind", "--make-private", layer, layerDirectory];
  const { code, output } = await tools.run("mount", args, MOUNT_TIMEOUT_MS);
  return code === 0 ? succeed(undefined) : fail("refused", `the host could not mount the disk: ${lastLine(output)}`);
}

/** The engine deletes all that it finds in a container's folder, so the renter's files must be out of it by then. */
export async function detachLayerFrom(tools: ImageTools, disk: string, layerDirectory: string): Promise<Result<void>> {
  const bound = await layerMounts(disk);
  if (!bound.some((entry) => entry.mountPoint === layerDirectory)) return succeed(undefined);
  return unmountLayer(tools, layerDirectory);
}

async function unmountLayer(tools: ImageTools, layerDirectory: string): Promise<Result<void>> {
  const { code, output } = await tools.run("umount", [layerDirectory], MOUNT_TIMEOUT_MS);
  if (code === 0) return succeed(undefined);
  return fail("conflict", `a container still uses the disk: ${lastLine(output)}`);
}

/** Mounts that show the disk's layer in place of a container's own folder. */
async function layerMounts(disk: string): Promise<readonly MountEntry[]> {
  const mounts = await readMounts();
  const device = mounts.findLast((entry) => entry.mountPoint === disk)?.device;
  return mounts.filter((entry) => entry.device === device && entry.root === "/layer");
}

/** Makes the layer beside its place and renames it, so that half a layer is never taken for an earlier one. */
async function moveIntoFresh(tools: ImageTools, source: string, layer: string): Promise<Result<void>> {
  const draft = `${layer}.new`;
  await rm(draft, { recursive: true, force: true });
  await makeLike(source, draft);
  await makeLike(join(source, "diff"), join(draft, "diff"));
  await makeLike(join(source, "work"), join(draft, "work"));
  const merged = await mergeFolder(tools, join(source, "diff"), join(draft, "diff"));
  if (!merged.ok) return merged;
  for (const note of NOTES) await writeOver(join(draft, note), await readFile(join(source, note)));
  await rename(draft, layer);
  return succeed(undefined);
}

/** The earlier container's files stay; only what the engine wrote down about the layers below is the new one's. */
async function moveIntoKept(tools: ImageTools, source: string, layer: string): Promise<Result<void>> {
  const work = join(layer, "work");
  // Without a mount, the rest in there is rubbish of an unclean end.
  await rm(work, { recursive: true, force: true });
  await makeLike(join(source, "work"), work);
  for (const note of NOTES) await writeOver(join(layer, note), await readFile(join(source, note)));
  return mergeFolder(tools, join(source, "diff"), join(layer, "diff"));
}

/**
 * Adds what is missing. A new container's layer is mostly empty, but the engine makes the working directory in it when
 * the image has none. A file of the renter at such a place stays, of any kind; no link of theirs is followed.
 */
async function mergeFolder(tools: ImageTools, source: string, target: string): Promise<Result<void>> {
  for (const { name } of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, name), join(target, name)];
    const there = await lstat(to).catch(ignoreMissing);
    if (there === undefined) {
      const { code, output } = await tools.run("cp", ["-a", "--", from, to], COPY_TIMEOUT_MS);
      if (code !== 0) return fail("refused", `the container could not be put on its disk: ${lastLine(output)}`);
    } else if (there.isDirectory() && (await lstat(from)).isDirectory()) {
      const merged = await mergeFolder(tools, from, to);
      if (!merged.ok) return merged;
    }
  }
  return succeed(undefined);
}

async function makeLike(original: string, path: string): Promise<void> {
  const { mode, uid, gid } = await stat(original);
  await mkdir(path);
  await chown(path, uid, gid);
  await chmod(path, mode & 0o7777);
}

/** In place: on a full disk there is no room for a second copy, but always for the same block again. */
async function writeOver(path: string, content: Buffer): Promise<void> {
  const handle = await open(path, (await exists(path)) ? "r+" : "w", 0o644);
  try {
    await handle.write(content, 0, content.length, 0);
    await handle.truncate(content.length);
  } finally {
    await handle.close();
  }
}
