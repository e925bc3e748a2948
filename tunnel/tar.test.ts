import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { test } from "node:test";
import { promisify } from "node:util";
import { readTar, TAR_END, tarHead, withoutDevices } from "./tar.ts";

const run = promisify(execFile);
const LONG = `${"folder-".repeat(12)}/${"file-".repeat(15)}`;

async function scratch(t: { after(hook: () => Promise<unknown>): void }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "berth-tar-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function archiveOf(program: readonly string[], folder: string): Promise<Buffer> {
  const [name = "", ...args] = program;
  const options = { encoding: "buffer" as const, maxBuffer: 64_000_000 };
  return (await run(name, [...args, "-c", "-f", "-", "-C", folder, "."], options)).stdout;
}

/** Pieces of every length from 1, so that each border of a piece falls somewhere in a header and in a body. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0, length = 1; at < bytes.length; at += length, length += 7) yield bytes.subarray(at, at + length);
}

async function gather(source: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of source) parts.push(part);
  return Buffer.concat(parts);
}

async function aTree(folder: string): Promise<void> {
  await mkdir(path.join(folder, path.dirname(LONG)), { recursive: true });
  await writeFile(path.join(folder, LONG), "long");
  await writeFile(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x63, 0xe9])]), "not UTF-8");
  await writeFile(path.join(folder, "large"), Buffer.alloc(100_000, "x"));
  await writeFile(path.join(folder, "empty"), "", { mode: 0o640 });
  await run("ln", [path.join(folder, LONG), path.join(folder, "hard")]);
  await run("ln", ["-s", `/${LONG}`, path.join(folder, "soft")]);
}

for (const program of [
  ["busybox", "tar"],
  ["tar", "--format=gnu"],
  ["tar", "--format=ustar"],
] as const) {
  test(`an archive of ${program.join(" ")} that is taken apart and put together lists the same`, async (t) => {
    const folder = await scratch(t);
    const tree = path.join(folder, "tree");
    await mkdir(tree);
    await aTree(tree);
    // This format has no room for long targets of links.
    if (program[1] === "--format=ustar") for (const link of ["soft", "hard"]) await rm(path.join(tree, link));
    const archive = await archiveOf(program, tree);
    const again = await gather(withoutDevices(pieces(archive)));
    const [from, to] = [path.join(folder, "from.tar"), path.join(folder, "to.tar")];
    await writeFile(from, archive);
    await writeFile(to, again);
    for (const lister of ["tar", "busybox"]) {
      const list = async (file: string) =>
        (await run(lister, [...(lister === "busybox" ? ["tar"] : []), "-tvf", file], { encoding: "latin1" })).stdout;
      assert.equal(await list(to), await list(from));
    }
    const { stdout } = await run("tar", ["-xOf", to, `./${LONG}`]);
    assert.equal(stdout, "long");
  });
}

test("devices are left out with their long names, and nothing else is", async () => {
  const entries = [
    ["0", "a"],
    ["3", "b".repeat(300)],
    ["4", "c"],
    ["5", `${"d".repeat(300)}/`],
  ] as const;
  const header = Buffer.alloc(512);
  const made = entries.flatMap(([type, name]) => tarHead({ header, type, path: name, link: "" }));
  const left: string[] = [];
  for await (const entry of readTar(withoutDevices(Readable.from([...made, TAR_END])))) left.push(entry.path);
  assert.deepEqual(left, ["a", `${"d".repeat(300)}/`]);
});

test("bytes that are no archive, or half of one, are an error and no endless wait", async () => {
  const header = Buffer.alloc(512);
  const [whole = header] = tarHead({ header, type: "0", path: "a", link: "" });
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(700, "x"),
    whole,
    whole.subarray(0, 100),
    Buffer.alloc(512, 0xff),
    Buffer.concat(tarHead({ header, type: "0", path: "n".repeat(5_000), link: "" })),
  ]) {
    await assert.rejects(gather(withoutDevices(Readable.from([bytes]))), /archive/);
  }
});
