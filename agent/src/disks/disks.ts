import { constants } from "node:fs";
import { mkdir, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { DesiredVolume, ObservedVolume } from "../wire/messages.ts";
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

/** The disks of one host: one for each instance, and the volumes. Every call may be repeated after any interruption. */
export type Disks = {
  /**
   * Makes (or finds) and mounts the disk of an instance. `volumeDirectory` makes folders for the image's own volumes;
   * `writeFile` keeps a file of the platform beside the renter's own and tells where it is.
   */
  open(instanceId: number, sizeBytes: number): Promise<Result<OpenDisk>>;
  /** A file that `writeFile` kept; undefined when there is none, the disk is not open, or the renter made the file too long. */
  readPlatformFile(instanceId: number, name: string): Promise<string | undefined>;
  /** Replaces its content, also in a container that has it mounted. Throws when there is no such file. */
  rewritePlatformFile(instanceId: number, name: string, content: string): Promise<void>;
  /**
   * Puts the layer of a container that does not run onto the open disk. What an earlier container of the disk wrote is
   * kept. Due before every start: a reboot, and a restart of the engine, take the mount away.
   */
  attachLayer(instanceId: number, layerDirectory: string): Promise<Result<void>>;
  /**
   * Takes the container's layer away from its folder. Due before the container is removed, or the engine deletes the
   * renter's files.
   */
  detachLayer(instanceId: number, layerDirectory: string): Promise<Result<void>>;
  /** Unmounts and deletes; succeeds when there is none. */
  remove(instanceId: number): Promise<Result<void>>;
  /** Bytes that the disk holds; undefined when it is not open. */
  usedBytes(instanceId: number): Promise<number | undefined>;
  /** Ids of instances with a file or a mount here. */
  list(): Promise<readonly number[]>;
  /** Brings the volumes to the desired set, and releases network volumes that are not in it. */
  reconcileVolumes(volumes: readonly DesiredVolume[]): Promise<readonly ObservedVolume[]>;
  /** Host folder of a present volume, to be mounted into a container. */
  volumeDirectory(volumeId: number): string | undefined;
  /** Waits for work under way; all disks stay mounted. */
  close(): Promise<void>;
};

export type DisksInput = {
  readonly stateDir: string;
  readonly hostKey: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly run?: RunProgram;
  readonly reserveBytes?: number;
};

const RESERVE_BYTES = 1_000_000_000;
const PLATFORM_FILE_BYTES_MAX = 16_384;

/** Real disks: image files on loop devices. Needs root, `mount`, `mkfs.ext4` and `e2fsck`. */
export function createDisks(input: DisksInput): Disks {
  const { stateDir, hostKey, clock, log } = input;
  const tools: ImageTools = {
    run: input.run ?? programRunner(clock),
    clock,
    log,
    reserveBytes: input.reserveBytes ?? RESERVE_BYTES,
  };
  const [imagesDir, mountsDir] = [join(stateDir, "disks"), join(stateDir, "mounts")];
  const volumes = new Volumes({ tools, stateDir, mountsDir, hostKey });
  const turns = new Turns();
  const imageOf = (instanceId: number): Image => ({
    file: join(imagesDir, `${instanceId}.img`),
    mountPoint: join(mountsDir, `disk-${instanceId}`),
  });
  const inTurn = <T>(instanceId: number, work: (image: Image) => Promise<Result<T>>) =>
    turns.take(String(instanceId), () => attempt(() => work(imageOf(instanceId))));

  return {
    open: (instanceId, sizeBytes) =>
      inTurn(instanceId, async (image) => {
        const made = await makeImage(tools, image.file, sizeBytes);
        if (!made.ok) return made;
        const mounted = await mountImage(tools, image);
        if (!mounted.ok) return mounted;
        return succeed({
          volumeDirectory: (index: number) => makeVolumeFolder(image, index),
          writeFile: (name: string, content: string) => writePlatformFile(image, name, content),
        });
      }),
    readPlatformFile: (instanceId, name) =>
      turns.take(String(instanceId), () => readFileAt(platformFile(imageOf(instanceId), name))),
    rewritePlatformFile: (instanceId, name, content) =>
      turns.take(String(instanceId), () =>
        writeInPlace(platformFile(imageOf(instanceId), name), content, constants.O_WRONLY),
      ),
    attachLayer: (instanceId, layerDirectory) =>
      inTurn(instanceId, async ({ mountPoint }) => {
        if (await isMounted(mountPoint)) return attachLayerTo(tools, mountPoint, layerDirectory);
        return fail("refused", "the instance's disk is not mounted");
      }),
    detachLayer: (instanceId, layerDirectory) =>
      inTurn(instanceId, ({ mountPoint }) => detachLayerFrom(tools, mountPoint, layerDirectory)),
    remove: (instanceId) => inTurn(instanceId, (image) => deleteImage(tools, image)),
    usedBytes: (instanceId) => usedBytesOf(imageOf(instanceId).mountPoint),
    async list() {
      const files = (await readdir(imagesDir).catch(ignoreMissing)) ?? [];
      const folders = (await readdir(mountsDir).catch(ignoreMissing)) ?? [];
      const ids = [
        ...files.map((name) => /^([1-9]\d*)\.img(\.new)?$/.exec(name)?.[1]),
        ...folders.map((name) => /^disk-([1-9]\d*)$/.exec(name)?.[1]),
      ];
      return [...new Set(ids.flatMap((id) => (id === undefined ? [] : Number(id))))].toSorted((a, b) => a - b);
    },
    reconcileVolumes: (desired) => volumes.reconcile(desired),
    volumeDirectory: (volumeId) => volumes.directory(volumeId),
    async close() {
      await Promise.all([turns.idle(), volumes.idle()]);
    },
  };
}

async function makeVolumeFolder({ mountPoint }: Image, index: number): Promise<string> {
  const folder = join(mountPoint, "volumes", String(index));
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

function platformFile({ mountPoint }: Image, name: string): string {
  return join(mountPoint, "platform", name);
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
