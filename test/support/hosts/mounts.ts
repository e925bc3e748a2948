import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Loop devices that show a file of the folder, also a deleted one. */
export async function loopsOf(folder: string): Promise<readonly string[]> {
  const { stdout } = await run("losetup", ["--list", "--noheadings", "--output", "NAME,BACK-FILE"]);
  return stdout.split("\n").flatMap((line) => {
    const [device, file] = line.trim().split(/\s+/);
    return device !== undefined && file?.startsWith(`${folder}/`) ? [device] : [];
  });
}

/** Mount points below the folder, and elsewhere those of images in it; in the order in which they were made. */
export async function mountsBelow(folder: string): Promise<readonly string[]> {
  const devices = await loopsOf(folder);
  const lines = (await readFile("/proc/self/mountinfo", "utf8")).split("\n").filter(Boolean);
  return lines.flatMap((line) => {
    const point = line.split(" ")[4] ?? "";
    const isOurs = point.startsWith(`${folder}/`) || devices.includes(line.split(" - ")[1]?.split(" ")[1] ?? "");
    return isOurs ? [point] : [];
  });
}

/** Unmounts all that an agent killed by a test has left mounted of its state folder. */
export async function unmountBelow(folder: string): Promise<void> {
  for (const point of (await mountsBelow(folder)).toReversed()) {
    await run("umount", ["--lazy", point]).catch(() => undefined);
  }
}
