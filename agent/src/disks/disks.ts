import { constants } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DesiredVolume, ObservedVolume } from "../../../protocol/index.ts";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type Result } from "../engine/engine.ts";
import type { Log } from "../base/log.ts";
import {
  attempt,
  deleteImage,
  ignoreMissing,
  isMounted,
  makeImage,
  mountImage,
  usedBytesOf,
  type Image,
  type ImageTools,
} from "./image.ts";
import { attachLayerTo, detachLayerFrom } from "./layer.ts";
import { programRunner, type RunProgram } from "../base/programs.ts";
import { Turns } from "./turns.ts";
import { Volumes } from "./volumes.ts";

export type OpenDisk = {
  readonly volumeDirectory: (index: number) => Promise<string>;
  readonly writeFile: (name: string, content: string) => Promise<string>;
};

/** The disks of one host: one for each instance, and the volumes. Everything may be repeated, after any interruption. */
export type Disks = {
  /**
   * Makes (or finds) and mounts the disk of an instance. `volumeDirectory` makes folders for the image's own volumes;
   * `writeFile` keeps a file of the platform beside the renter's own and tells where it is.
   */
  open(instance_id: number, size_bytes: number): Promise<Result<OpenDisk>>;
  /** A file that `writeFile` kept; undefined when there is none, the disk is not open, or the renter made the file too long. */
  readPlatformFile(instance_id: number, name: string): Promise<string | undefined>;
  /** Replaces its content, also in a container that has it mounted. Throws when there is no such file. */
  rewritePlatformFile(instance_id: number, name: string, content: string): Promise<void>;
  /**
   * Puts the layer of a container that does not run onto the open disk. What an earlier container of the disk wrote is
   * kept. Due before every start: a reboot, and a restart of the engine, take the mount away.
   */
  attachLayer(instance_id: number, layer_directory: string): Promise<Result<void>>;
  /** Due before the container is removed, or the engine deletes what it wrote. */
  detachLayer(instance_id: number, layer_directory: string): Promise<Result<void>>;
  /** Unmounts and deletes; succeeds when there is none. */
  remove(instance_id: number): Promise<Result<void>>;
  /** Undefined when the disk is not open. */
  usedBytes(instance_id: number): Promise<number | undefined>;
  /** Ids of instances of which anything is left here. */
  list(): Promise<readonly number[]>;
  /** Brings the volumes to what is desired, and lets go of network volumes that it is not told about. */
  reconcileVolumes(volumes: readonly DesiredVolume[]): Promise<readonly ObservedVolume[]>;
  /** Host folder of a present volume, to be mounted into a container. */
  volumeDirectory(volume_id: number): string | undefined;
  /** Waits for what is under way; everything stays mounted. */
  close(): Promise<void>;
};

export type DisksInput = {
  readonly state_dir: string;
  readonly host_key: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly run?: RunProgram;
  readonly reserve_bytes?: number;
};

const RESERVE_BYTES = 1_000_000_000;
const PLATFORM_FILE_BYTES_MAX = 16_384;

/** Real disks: image files on loop devices. Needs root, `mount`, `mkfs.ext4` and `e2fsck`. */
export function createDisks(input: DisksInput): Disks {
  const { state_dir, host_key, clock, log } = input;
  const tools: ImageTools = {
    run: input.run ?? programRunner(clock),
    clock,
    log,
    reserve_bytes: input.reserve_bytes ?? RESERVE_BYTES,
  };
  const [images_dir, mounts_dir] = [join(state_dir, "disks"), join(state_dir, "mounts")];
  const volumes = new Volumes({ tools, state_dir, mounts_dir, host_key });
  const turns = new Turns();
  const imageOf = (instance_id: number): Image => ({
    file: join(images_dir, `${instance_id}.img`),
    mount_point: join(mounts_dir, `disk-${instance_id}`),
  });
  const inTurn = <T>(instance_id: number, work: (image: Image) => Promise<Result<T>>) =>
    turns.take(String(instance_id), () => attempt(() => work(imageOf(instance_id))));

  return {
    open: (instance_id, size_bytes) =>
      inTurn(instance_id, async (image) => {
        const made = await makeImage(tools, image.file, size_bytes);
        if (!made.ok) return made;
        const mounted = await mountImage(tools, image);
        if (!mounted.ok) return mounted;
        return succeed({
          volumeDirectory: (index: number) => makeVolumeFolder(image, index),
          writeFile: (name: string, content: string) => writePlatformFile(image, name, content),
        });
      }),
    readPlatformFile: (instance_id, name) =>
      turns.take(String(instance_id), () => readFileAt(platformFile(imageOf(instance_id), name))),
    rewritePlatformFile: (instance_id, name, content) =>
      turns.take(String(instance_id), () =>
        writeInPlace(platformFile(imageOf(instance_id), name), content, constants.O_WRONLY),
      ),
    attachLayer: (instance_id, layer_directory) =>
      inTurn(instance_id, async ({ mount_point }) => {
        if (await isMounted(mount_point)) return attachLayerTo(tools, mount_point, layer_directory);
        return fail("refused", "the instance's disk is not mounted");
      }),
    detachLayer: (instance_id, layer_directory) =>
      inTurn(instance_id, ({ mount_point }) => detachLayerFrom(tools, mount_point, layer_directory)),
    remove: (instance_id) => inTurn(instance_id, (image) => deleteImage(tools, image)),
    usedBytes: (instance_id) => usedBytesOf(imageOf(instance_id).mount_point),
    async list() {
      const files = (await readdir(images_dir).catch(ignoreMissing)) ?? [];
      const folders = (await readdir(mounts_dir).catch(ignoreMissing)) ?? [];
      const ids = [
        ...files.map((name) => /^([1-9]\d*)\.img(\.new)?$/.exec(name)?.[1]),
        ...folders.map((name) => /^disk-([1-9]\d*)$/.exec(name)?.[1]),
      ];
      return [...new Set(ids.flatMap((id) => (id === undefined ? [] : Number(id))))].toSorted((a, b) => a - b);
    },
    reconcileVolumes: (desired) => volumes.reconcile(desired),
    volumeDirectory: (volume_id) => volumes.directory(volume_id),
    async close() {
      await Promise.all([turns.idle(), volumes.idle()]);
    },
  };
}

async function makeVolumeFolder({ mount_point }: Image, index: number): Promise<string> {
  const folder = join(mount_point, "volumes", String(index));
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Readable by the container's root only, who owns it. */
async function writePlatformFile(image: Image, name: string, content: string): Promise<string> {
  const path = platformFile(image, name);
  await mkdir(dirname(path), { recursive: true });
  await writeInPlace(path, content, constants.O_WRONLY | constants.O_CREAT);
  return path;
}

function platformFile({ mount_point }: Image, name: string): string {
  return join(mount_point, "platform", name);
}

/** Containers have the file itself mounted, so it is never replaced by another one; nor is it empty for a moment. */
async function writeInPlace(path: string, content: string, flags: number): Promise<void> {
  const file = await open(path, flags | constants.O_NOFOLLOW, 0o600);
  try {
    const bytes = Buffer.from(content);
    await file.write(bytes, 0, bytes.length, 0);
    await file.truncate(bytes.length);
  } finally {
    await file.close();
  }
}

async function readFileAt(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(ignoreMissing);
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(PLATFORM_FILE_BYTES_MAX + 1), 0, null, 0);
    return bytesRead > PLATFORM_FILE_BYTES_MAX ? undefined : buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}
