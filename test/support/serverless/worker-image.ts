import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFile, cp, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { globSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { docker, ensureDocker, fillWithBusybox, hasImage, imageOf } from "../hosts/docker.ts";
import { inTurn } from "../in-turn.ts";

const run = promisify(execFile);
const ROOT = path.resolve(import.meta.dirname, "../../..");
const PROGRAM = "test/support/serverless/worker-program.ts";

/**
 * An image that runs as a worker of an endpoint group: busybox, Node with its libraries, `worker/` and a backend of a
 * fixed speed. It serves `POST /work` with `{"units": N}`. Its switches are variables, described in `worker-program.ts`.
 */
export async function workerImage(): Promise<string> {
  await ensureDocker();
  const files = [...globSync("worker/src/**/*.ts", { cwd: ROOT }), PROGRAM]
    .filter((file) => !file.endsWith(".test.ts"))
    .toSorted();
  const content = await Promise.all(files.map((file) => readFile(path.join(ROOT, file))));
  const name = `berth-test/worker:${hashOf(process.version, ...content)}`;
  if (await hasImage(name)) return name;
  await inTurn(name, () => makeWorkerImage(name, files));
  return name;
}

/** Busybox and the Node that runs this, with the libraries that it is linked with. */
async function nodeImage(): Promise<string> {
  const node = process.execPath;
  const libraries = await librariesOf(node);
  const name = `berth-test/node:${hashOf(process.version, ...libraries)}`;
  return imageOf(name, ["ENV PATH=/bin"], async (root) => {
    await fillWithBusybox(root);
    await copyFile(node, path.join(root, "bin/node"));
    for (const library of libraries) {
      await mkdir(path.dirname(path.join(root, library)), { recursive: true });
      await copyFile(library, path.join(root, library));
    }
  });
}

async function makeWorkerImage(name: string, files: readonly string[]): Promise<void> {
  if (await hasImage(name)) return;
  const base = await nodeImage();
  const folder = await mkdtemp(path.join(tmpdir(), "berth-worker-"));
  const container = await docker("create", base, "/bin/true");
  try {
    for (const file of files) await cp(path.join(ROOT, file), path.join(folder, "app", file));
    await docker("cp", path.join(folder, "app"), `${container}:/app`);
    const program = JSON.stringify(["/bin/node", "--disable-warning=ExperimentalWarning", `/app/${PROGRAM}`]);
    await docker("commit", "--change", `CMD ${program}`, container, name);
  } finally {
    await docker("rm", "-f", container);
    await rm(folder, { recursive: true, force: true });
  }
}

async function librariesOf(program: string): Promise<readonly string[]> {
  const { stdout } = await run("ldd", [program]);
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].flatMap(([, library]) => (library === undefined ? [] : [library]));
}

function hashOf(...parts: readonly (string | Buffer)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 12);
}
