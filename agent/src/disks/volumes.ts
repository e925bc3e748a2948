import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { DesiredVolume, ObservedVolume } from "../wire/messages.ts";
import { fail, succeed, type Result } from "../engine/engine.ts";
import {
  attempt,
  deleteImage,
  exists,
  ignoreMissing,
  isMounted,
  makeImage,
  mountImage,
  removeMountPoint,
  unmountImage,
  usedBytesOf,
  type Image,
  type ImageTools,
} from "./image.ts";
import { releaseLock, takeLock, type Lock } from "./network-lock.ts";
import { Turns } from "./turns.ts";

/** A folder of ours on every network disk. */
const NETWORK_FOLDER = "berth-volumes";
const ANSWER_TIMEOUT_MS = 10_000;
const MESSAGE_LIMIT = 1024;

export type VolumesInput = {
  readonly tools: ImageTools;
  readonly stateDir: string;
  readonly mountsDir: string;
  /** How locks on network disks name this host. */
  readonly hostKey: string;
};

/**
 * The volumes of one host. It keeps no list of its own: images, mounts and, for network volumes, a note for each are
 * the facts. A local volume that is not in the desired set stays as it is; a network volume that is not in it is
 * released, so that another host can have it, with its data.
 */
export class Volumes {
  readonly #input: VolumesInput;
  readonly #turns = new Turns();
  readonly #present = new Map<number, string>();

  constructor(input: VolumesInput) {
    this.#input = input;
  }

  async reconcile(volumes: readonly DesiredVolume[]): Promise<readonly ObservedVolume[]> {
    const told = new Set(volumes.map((volume) => volume.volumeId));
    const [observed] = await Promise.all([
      Promise.all(volumes.map((volume) => this.#inTurn(volume.volumeId, () => this.#bring(volume)))),
      this.#letGoAllBut(told),
    ]);
    return observed;
  }

  directory(volumeId: number): string | undefined {
    return this.#present.get(volumeId);
  }

  idle(): Promise<void> {
    return this.#turns.idle();
  }

  #inTurn<T>(volumeId: number, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(String(volumeId), work);
  }

  async #bring(volume: DesiredVolume): Promise<ObservedVolume> {
    const { volumeId } = volume;
    if (volume.state === "absent") this.#present.delete(volumeId);
    const result = await attempt(() => (volume.state === "absent" ? this.#destroy(volume) : this.#provide(volume)));
    if (!result.ok) {
      this.#present.delete(volumeId);
      const message = result.failure.message.slice(0, MESSAGE_LIMIT);
      return { volumeId, state: "failed", usedBytes: 0, message };
    }
    if (volume.state === "absent") return { volumeId, state: "absent", usedBytes: 0, message: "" };
    this.#present.set(volumeId, join(this.#mountPoint(volumeId), "data"));
    return { volumeId, state: "present", usedBytes: result.value, message: "" };
  }

  /** Makes and mounts one volume; returns the bytes in use. */
  async #provide({ volumeId, sizeBytes, networkDirectory }: DesiredVolume): Promise<Result<number>> {
    const { tools } = this.#input;
    const mountPoint = this.#mountPoint(volumeId);
    if (!(await isMounted(mountPoint))) {
      const claimed = networkDirectory === null ? undefined : await this.#claim(volumeId, networkDirectory);
      if (claimed?.ok === false) return claimed;
      const image = claimed?.value ?? this.#localImage(volumeId);
      const made = await makeImage(tools, image.file, sizeBytes);
      if (!made.ok) return made;
      const mounted = await mountImage(tools, image);
      if (!mounted.ok) return mounted;
    }
    await this.#makeDataFolder(mountPoint);
    return succeed((await usedBytesOf(mountPoint)) ?? 0);
  }

  /** Images run as many users, and a volume belongs to one renter alone: all of them may write. */
  async #makeDataFolder(mountPoint: string): Promise<void> {
    const data = join(mountPoint, "data");
    if (await exists(data)) return;
    // Complete or not there at all, like everything that is made in two steps.
    await rm(`${data}.new`, { recursive: true, force: true });
    await mkdir(`${data}.new`);
    await chmod(`${data}.new`, 0o777);
    await rename(`${data}.new`, data);
  }

  async #destroy({ volumeId, networkDirectory }: DesiredVolume): Promise<Result<number>> {
    const { tools } = this.#input;
    if (networkDirectory === null) {
      const deleted = await deleteImage(tools, this.#localImage(volumeId));
      return deleted.ok ? succeed(0) : deleted;
    }
    const claimed = await this.#claim(volumeId, networkDirectory);
    if (!claimed.ok) return claimed;
    const deleted = await deleteImage(tools, claimed.value);
    if (!deleted.ok) return deleted;
    await releaseLock(this.#lockOf(volumeId, networkDirectory));
    await rm(this.#noteFile(volumeId), { force: true });
    return succeed(0);
  }

  /** Makes sure that the network disk is there and that no other host has the volume. */
  async #claim(volumeId: number, directory: string): Promise<Result<Image>> {
    const folder = await this.#findFolder(directory);
    if (!folder.ok) return folder;
    const noted = await this.#readNote(volumeId);
    if (noted !== undefined && noted !== directory) {
      const released = await this.#letGo(volumeId);
      if (!released.ok) return released;
    }
    // Noted first, so that after a crash it is known where a lock of this host may be.
    await this.#writeNote(volumeId, directory);
    const locked = await takeLock(this.#lockOf(volumeId, directory));
    return locked.ok ? succeed(this.#networkImage(volumeId, directory)) : locked;
  }

  /**
   * A network disk that is not mounted at the moment looks like an empty folder. Our folder on it is made only where
   * something is mounted, so that nothing lands on the wrong disk.
   */
  async #findFolder(directory: string): Promise<Result<void>> {
    if (!isAbsolute(directory)) return fail("refused", `the network disk's mount point ${directory} is not absolute`);
    // By a program that can be left behind: a network disk that hangs would hang every call of this process on it.
    const { code } = await this.#input.tools.run("stat", ["-L", "--", directory], ANSWER_TIMEOUT_MS);
    if (code === 124) return fail("refused", `the network disk at ${directory} does not answer on this host`);
    if (code !== 0) return fail("refused", `the network disk is not mounted at ${directory} on this host`);
    const folder = join(directory, NETWORK_FOLDER);
    if (await exists(folder)) return succeed(undefined);
    if (!(await isMounted(directory))) {
      return fail(
        "refused",
        `nothing is mounted at ${directory} on this host: mount the network disk there, or make the folder ${folder} to use the folder as it is`,
      );
    }
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return succeed(undefined);
  }

  async #letGoAllBut(told: ReadonlySet<number>): Promise<void> {
    const names = (await readdir(this.#notesFolder()).catch(ignoreMissing)) ?? [];
    const ids = names.filter((name) => /^[1-9]\d*$/.test(name)).map(Number);
    await Promise.all(
      ids
        .filter((id) => !told.has(id))
        .map(async (volumeId) => {
          const result = await this.#inTurn(volumeId, () => attempt(() => this.#letGo(volumeId)));
          if (result.ok) return;
          const { message } = result.failure;
          this.#input.tools.log.warn({ volume_id: volumeId, message }, "a network volume could not be released");
        }),
    );
  }

  /** Unmounts a network volume and gives its lock back; the data stays. */
  async #letGo(volumeId: number): Promise<Result<void>> {
    const directory = await this.#readNote(volumeId);
    if (directory === undefined) return succeed(undefined);
    this.#present.delete(volumeId);
    const image = this.#networkImage(volumeId, directory);
    const unmounted = await unmountImage(this.#input.tools, image);
    if (!unmounted.ok) return unmounted;
    // Its lock can be given back only where it is.
    const found = await this.#findFolder(directory);
    if (!found.ok) return found;
    await releaseLock(this.#lockOf(volumeId, directory));
    await removeMountPoint(image);
    await rm(this.#noteFile(volumeId), { force: true });
    return succeed(undefined);
  }

  #mountPoint(volumeId: number): string {
    return join(this.#input.mountsDir, `volume-${volumeId}`);
  }

  #localImage(volumeId: number): Image {
    const file = join(this.#input.stateDir, "volumes", `${volumeId}.img`);
    return { file, mountPoint: this.#mountPoint(volumeId) };
  }

  #networkImage(volumeId: number, directory: string): Image {
    const file = join(directory, NETWORK_FOLDER, `${volumeId}.img`);
    return { file, mountPoint: this.#mountPoint(volumeId) };
  }

  #lockOf(volumeId: number, directory: string): Lock {
    return { path: join(directory, NETWORK_FOLDER, `${volumeId}.lock`), holder: this.#input.hostKey };
  }

  #notesFolder(): string {
    return join(this.#input.stateDir, "network-volumes");
  }

  #noteFile(volumeId: number): string {
    return join(this.#notesFolder(), String(volumeId));
  }

  async #readNote(volumeId: number): Promise<string | undefined> {
    return readFile(this.#noteFile(volumeId), "utf8").catch(ignoreMissing);
  }

  async #writeNote(volumeId: number, directory: string): Promise<void> {
    await mkdir(this.#notesFolder(), { recursive: true, mode: 0o700 });
    const file = this.#noteFile(volumeId);
    await writeFile(`${file}.new`, directory, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
}
