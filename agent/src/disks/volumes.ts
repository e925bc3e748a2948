import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { DesiredVolume, ObservedVolume } from "../../../protocol/index.ts";
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
  readonly state_dir: string;
  readonly mounts_dir: string;
  /** How locks on network disks name this host. */
  readonly host_key: string;
};

/**
 * The volumes of one host. It keeps no list of its own: images, mounts and, for what lies on network disks, a note per
 * volume are the facts. A local volume that nobody mentions stays as it is; a network volume that nobody mentions is let
 * go, so that another host can have it, with its data.
 */
export class Volumes {
  readonly #input: VolumesInput;
  readonly #turns = new Turns();
  readonly #present = new Map<number, string>();

  constructor(input: VolumesInput) {
    this.#input = input;
  }

  async reconcile(volumes: readonly DesiredVolume[]): Promise<readonly ObservedVolume[]> {
    const told = new Set(volumes.map((volume) => volume.volume_id));
    const [observed] = await Promise.all([
      Promise.all(volumes.map((volume) => this.#inTurn(volume.volume_id, () => this.#bring(volume)))),
      this.#letGoAllBut(told),
    ]);
    return observed;
  }

  directory(volume_id: number): string | undefined {
    return this.#present.get(volume_id);
  }

  idle(): Promise<void> {
    return this.#turns.idle();
  }

  #inTurn<T>(volume_id: number, work: () => Promise<T>): Promise<T> {
    return this.#turns.take(String(volume_id), work);
  }

  async #bring(volume: DesiredVolume): Promise<ObservedVolume> {
    const { volume_id } = volume;
    if (volume.state === "absent") this.#present.delete(volume_id);
    const result = await attempt(() => (volume.state === "absent" ? this.#destroy(volume) : this.#provide(volume)));
    if (!result.ok) {
      this.#present.delete(volume_id);
      const message = result.failure.message.slice(0, MESSAGE_LIMIT);
      return { volume_id, state: "failed", used_bytes: 0, message };
    }
    if (volume.state === "absent") return { volume_id, state: "absent", used_bytes: 0, message: "" };
    this.#present.set(volume_id, join(this.#mountPoint(volume_id), "data"));
    return { volume_id, state: "present", used_bytes: result.value, message: "" };
  }

  /** Returns how many bytes are in use. */
  async #provide({ volume_id, size_bytes, network_directory }: DesiredVolume): Promise<Result<number>> {
    const { tools } = this.#input;
    const mount_point = this.#mountPoint(volume_id);
    if (!(await isMounted(mount_point))) {
      const claimed = network_directory === null ? undefined : await this.#claim(volume_id, network_directory);
      if (claimed?.ok === false) return claimed;
      const image = claimed?.value ?? this.#localImage(volume_id);
      const made = await makeImage(tools, image.file, size_bytes);
      if (!made.ok) return made;
      const mounted = await mountImage(tools, image);
      if (!mounted.ok) return mounted;
    }
    await this.#makeDataFolder(mount_point);
    return succeed((await usedBytesOf(mount_point)) ?? 0);
  }

  /** Images run as many users, and a volume belongs to one renter alone: all of them may write. */
  async #makeDataFolder(mount_point: string): Promise<void> {
    const data = join(mount_point, "data");
    if (await exists(data)) return;
    // Complete or not there at all, like everything that is made in two steps.
    await rm(`${data}.new`, { recursive: true, force: true });
    await mkdir(`${data}.new`);
    await chmod(`${data}.new`, 0o777);
    await rename(`${data}.new`, data);
  }

  async #destroy({ volume_id, network_directory }: DesiredVolume): Promise<Result<number>> {
    const { tools } = this.#input;
    if (network_directory === null) {
      const deleted = await deleteImage(tools, this.#localImage(volume_id));
      return deleted.ok ? succeed(0) : deleted;
    }
    const claimed = await this.#claim(volume_id, network_directory);
    if (!claimed.ok) return claimed;
    const deleted = await deleteImage(tools, claimed.value);
    if (!deleted.ok) return deleted;
    await releaseLock(this.#lockOf(volume_id, network_directory));
    await rm(this.#noteFile(volume_id), { force: true });
    return succeed(0);
  }

  /** Makes sure that the network disk is there and that no other host has the volume. */
  async #claim(volume_id: number, directory: string): Promise<Result<Image>> {
    const folder = await this.#findFolder(directory);
    if (!folder.ok) return folder;
    const noted = await this.#readNote(volume_id);
    if (noted !== undefined && noted !== directory) {
      const released = await this.#letGo(volume_id);
      if (!released.ok) return released;
    }
    // Noted first: whatever happens next, it is known where a lock of this host may be.
    await this.#writeNote(volume_id, directory);
    const locked = await takeLock(this.#lockOf(volume_id, directory));
    return locked.ok ? succeed(this.#networkImage(volume_id, directory)) : locked;
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
        .map(async (volume_id) => {
          const result = await this.#inTurn(volume_id, () => attempt(() => this.#letGo(volume_id)));
          if (result.ok) return;
          const { message } = result.failure;
          this.#input.tools.log.warn({ volume_id, message }, "a network volume could not be let go");
        }),
    );
  }

  /** Unmounts a network volume and gives its lock back; the data stays. */
  async #letGo(volume_id: number): Promise<Result<void>> {
    const directory = await this.#readNote(volume_id);
    if (directory === undefined) return succeed(undefined);
    this.#present.delete(volume_id);
    const image = this.#networkImage(volume_id, directory);
    const unmounted = await unmountImage(this.#input.tools, image);
    if (!unmounted.ok) return unmounted;
    // Its lock can be given back only where it is.
    const found = await this.#findFolder(directory);
    if (!found.ok) return found;
    await releaseLock(this.#lockOf(volume_id, directory));
    await removeMountPoint(image);
    await rm(this.#noteFile(volume_id), { force: true });
    return succeed(undefined);
  }

  #mountPoint(volume_id: number): string {
    return join(this.#input.mounts_dir, `volume-${volume_id}`);
  }

  #localImage(volume_id: number): Image {
    const file = join(this.#input.state_dir, "volumes", `${volume_id}.img`);
    return { file, mount_point: this.#mountPoint(volume_id) };
  }

  #networkImage(volume_id: number, directory: string): Image {
    const file = join(directory, NETWORK_FOLDER, `${volume_id}.img`);
    return { file, mount_point: this.#mountPoint(volume_id) };
  }

  #lockOf(volume_id: number, directory: string): Lock {
    return { path: join(directory, NETWORK_FOLDER, `${volume_id}.lock`), holder: this.#input.host_key };
  }

  #notesFolder(): string {
    return join(this.#input.state_dir, "network-volumes");
  }

  #noteFile(volume_id: number): string {
    return join(this.#notesFolder(), String(volume_id));
  }

  async #readNote(volume_id: number): Promise<string | undefined> {
    return readFile(this.#noteFile(volume_id), "utf8").catch(ignoreMissing);
  }

  async #writeNote(volume_id: number, directory: string): Promise<void> {
    await mkdir(this.#notesFolder(), { recursive: true, mode: 0o700 });
    const file = this.#noteFile(volume_id);
    await writeFile(`${file}.new`, directory, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
}
