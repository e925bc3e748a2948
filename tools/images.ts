// `./berth images [FOLDER]`: makes the images of the server and of the agent, each as one file.
import { execFileSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { parseArgs } from "node:util";
import { ROOMS } from "./images/contents.ts";
import type { Layer } from "./images/layer.ts";
import { makeImage, type Made } from "./images/make.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const MEGABYTE = 1_000_000;

function describe({ file, digest, layers }: Made): string {
  const sum = (pick: (layer: Layer) => number) =>
    Math.round(layers.reduce((bytes, layer) => bytes + pick(layer), 0) / MEGABYTE);
  return `${file}\n  ${digest}, ${sum(({ bytes }) => bytes)} MB to download, ${sum(({ contentBytes }) => contentBytes)} MB unpacked`;
}

async function main(): Promise<void> {
  const options = { only: { type: "string" } } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [folder = "images", ...more] = positionals;
  const rooms = ROOMS.filter((room) => values.only === undefined || values.only === room);
  if (more.length > 0 || rooms.length === 0) throw new Error("usage: ./berth images [FOLDER] [--only server|agent]");
  await mkdir(folder, { recursive: true });
  if (rooms.includes("server")) {
    execFileSync(process.execPath, [path.join(ROOT, "console/build.ts"), "--if-changed"], { stdio: "inherit" });
  }
  for (const room of rooms) console.log(describe(await makeImage(room, path.resolve(folder))));
}

try {
  await main();
} catch (error) {
  console.error(`error: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
