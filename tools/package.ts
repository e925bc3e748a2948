// `./berth package [FOLDER]`: makes the npm packages of the SDK and of the command, and puts them into FOLDER. In the folder
// of a package `npm pack` and `npm publish` run it too: with --build before, and with --clean after.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.resolve(import.meta.dirname, "..");
const COMPILER = path.join(ROOT, "node_modules/.bin/tsc");
/** Files and folders that a build adds to the folder of a package. */
const BUILT = ["dist", "LICENSE", "node_modules"];

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
};

/** Sources from which the compiler starts, and the folder whose content `dist` mirrors; all below the root. */
type Build = { readonly entries: readonly string[]; readonly rootDir: string; readonly hasTypes: boolean };

const BUILDS: Readonly<Record<string, Build>> = {
  sdk: { entries: ["sdk/src/index.ts"], rootDir: "sdk/src", hasTypes: true },
  // Imports lead to the SDK. The worker, which stands alone, is a program of its own.
  cli: { entries: ["cli/src/main.ts", "worker/src/main.ts"], rootDir: ".", hasTypes: false },
};

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(path.join(folder, "package.json"), "utf8")) as Manifest;
}

/** Compiles the package of this room into `folder`, which has its manifest, and adds what the package has to contain. */
async function build(room: string, folder: string): Promise<void> {
  const { version, dependencies = {} } = await readManifest(folder);
  const own = await readManifest(ROOT);
  if (version !== own.version) throw new Error(`${room}/package.json has version ${version}, and Berth ${own.version}`);
  await clean(folder);
  await compile(room, path.join(folder, "dist"));
  await cp(path.join(ROOT, "LICENSE"), path.join(folder, "LICENSE"));
  await bundle(dependencies, folder);
}

async function compile(room: string, outDir: string): Promise<void> {
  const own = BUILDS[room];
  if (own === undefined) throw new Error(`${room} is no package`);
  const options = {
    noEmit: false,
    outDir,
    rootDir: path.join(ROOT, own.rootDir),
    declaration: own.hasTypes,
    rewriteRelativeImportExtensions: true,
    typeRoots: [path.join(ROOT, "node_modules/@types")],
  };
  const files = own.entries.map((file) => path.join(ROOT, file));
  const place = await mkdtemp(path.join(tmpdir(), "berth-compile-"));
  try {
    const project = path.join(place, "tsconfig.json");
    const extending = path.join(ROOT, "tsconfig.json");
    await writeFile(project, JSON.stringify({ extends: extending, compilerOptions: options, files, include: [] }));
    await run(COMPILER, ["--project", project], ROOT);
  } finally {
    await rm(place, { recursive: true });
  }
}

/** Copies the dependencies of a package, and theirs, so that it can be installed without a network. */
async function bundle(dependencies: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const wanted = Object.entries(dependencies);
  const done = new Set<string>();
  for (const [name, version] of wanted) {
    if (done.has(name)) continue;
    done.add(name);
    const from = path.join(ROOT, "node_modules", name);
    const found = await readManifest(from);
    const isPinned = /^\d/.test(version);
    if (isPinned && found.version !== version)
      throw new Error(`${name} ${version} is needed, ${found.version} is here`);
    await cp(from, path.join(folder, "node_modules", name), { recursive: true });
    wanted.push(...Object.entries(found.dependencies ?? {}));
  }
}

async function clean(folder: string): Promise<void> {
  for (const name of BUILT) await rm(path.join(folder, name), { recursive: true, force: true });
}

/** Builds each package in a folder of its own, and packs it from there. */
async function packAll(destination: string): Promise<void> {
  const top = await mkdtemp(path.join(tmpdir(), "berth-package-"));
  try {
    for (const room of Object.keys(BUILDS)) {
      const folder = path.join(top, room);
      for (const name of ["package.json", "README.md", "examples"]) {
        await cp(path.join(ROOT, room, name), path.join(folder, name), { recursive: true }).catch(ignoreMissing);
      }
      await build(room, folder);
      await run("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", destination], folder);
      const { name, version } = await readManifest(folder);
      console.log(path.join(destination, `${name}-${version}.tgz`));
    }
  } finally {
    await rm(top, { recursive: true });
  }
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}

async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, [...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  const [code]: (number | null)[] = await once(child, "close");
  if (code !== 0) throw new Error(`${path.basename(program)} failed\n${said}`.trimEnd());
}

const [argument = ".", ...more] = process.argv.slice(2);
const here = path.resolve(".");
if (more.length > 0) {
  console.error("error: give one folder at most: ./berth package [FOLDER]");
  process.exitCode = 2;
} else if (argument === "--build") {
  await build(path.basename(here), here);
} else if (argument === "--clean") {
  await clean(here);
} else {
  await packAll(path.resolve(argument));
}
