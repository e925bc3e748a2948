import { readdir, readFile } from "node:fs/promises";

/** One line of `/proc/self/mountinfo`. */
export type MountEntry = {
  /** `major:minor` of the file system. */
  readonly device: string;
  /** The folder of the file system that is shown. */
  readonly root: string;
  readonly mountPoint: string;
  readonly type: string;
  /** The file system takes no writes: ours are all mounted for writing, so an error has stopped it. */
  readonly isStopped: boolean;
};

export type LoopDevice = { readonly path: string; readonly device: string };

/** How ext4 shows that it takes no writes any more, in older and newer kernels. */
const STOPPED: ReadonlySet<string> = new Set(["ro", "emergency_ro", "shutdown"]);

/** All mounts that this process sees, older ones first. */
export async function readMounts(): Promise<readonly MountEntry[]> {
  return parseMountinfo(await readFile("/proc/self/mountinfo", "utf8"));
}

/** Lines that are not as `proc_pid_mountinfo(5)` says are left out. */
export function parseMountinfo(text: string): readonly MountEntry[] {
  return text.split("\n").flatMap((line) => {
    const [front = "", back] = line.split(" - ");
    const [, , device, root, mountPoint] = front.split(" ");
    const [type, , options = ""] = back?.split(" ") ?? [];
    if (device === undefined || root === undefined || mountPoint === undefined || type === undefined) return [];
    const isStopped = options.split(",").some((option) => STOPPED.has(option));
    return [{ device, root: unescapeOctal(root), mountPoint: unescapeOctal(mountPoint), type, isStopped }];
  });
}

/** The kernel writes blanks, backslashes and the like as `\\040`; everything else stands for itself. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The loop devices that show this file. There is none as soon as nobody anywhere has it mounted any more. */
export async function findLoopDevices(file: string): Promise<readonly LoopDevice[]> {
  const names = (await readdir("/sys/block")).filter((name) => name.startsWith("loop"));
  const found = await Promise.all(
    names.map(async (name): Promise<LoopDevice | undefined> => {
      try {
        const backing = await readFile(`/sys/block/${name}/loop/backing_file`, "utf8");
        if (backing.trimEnd() !== file) return undefined;
        return { path: `/dev/${name}`, device: (await readFile(`/sys/block/${name}/dev`, "utf8")).trim() };
      } catch {
        // A device that shows no file has no such entry, and one may be let go while we look.
        return undefined;
      }
    }),
  );
  return found.filter((one) => one !== undefined);
}
