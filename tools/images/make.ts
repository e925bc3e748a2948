// One image as one file, with the list of Debian's packages in it beside it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { writeImage } from "./archive.ts";
import { contentsOf, type Room } from "./contents.ts";
import { debianRoot, type DebianPackage } from "./debian.ts";
import { writeLayer, type Layer } from "./layer.ts";

/** Small enough to pull, and made in seconds. */
const USUAL_COMPRESSION = 6;

export type Made = {
  readonly file: string;
  /** The name by which Docker knows it when it is loaded. */
  readonly reference: string;
  readonly digest: string;
  readonly layers: readonly Layer[];
};

/**
 * Makes the image of a room in `folder`. The same sources, the same packages of Debian and the same compression (0 is quick,
 * 9 is small) give the same digest.
 */
export async function makeImage(room: Room, folder: string, compression = USUAL_COMPRESSION): Promise<Made> {
  const contents = contentsOf(room);
  const place = await mkdtemp(path.join(tmpdir(), "berth-image-"));
  const debian = await debianRoot(contents.debianPackages, contents.withoutPackages);
  try {
    const layers: Layer[] = [];
    for (const entries of [debian.entries, ...contents.layers()]) {
      layers.push(await writeLayer(path.join(place, `${layers.length}.tar.gz`), entries, compression));
    }
    const { name, version, architecture } = contents.settings;
    const base = path.join(folder, `${name}-${version}-${architecture}`);
    const digest = await writeImage(`${base}.tar`, contents.settings, layers);
    await writeFile(`${base}.packages.txt`, debian.packages.map(lineOf).join(""));
    return { file: `${base}.tar`, reference: `${name}:${version}`, digest, layers };
  } finally {
    debian.remove();
    await rm(place, { recursive: true });
  }
}

function lineOf({ name, version, sha256 }: DebianPackage): string {
  return `${name} ${version} ${sha256}\n`;
}
