import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, chmod, constants, copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";

/**
 * Programs of the host that every container gets to see, read-only, so that shells, file transfer and waiting work in
 * images that bring nothing of the sort. The folder is named by its content: a newer one stands beside those that
 * running containers still use.
 */
export type Toolbox = {
  /** On the host; holds `busybox`, `bin/` with sftp-server and, where the host has them, rsync and rclone, and `lib/`. */
  readonly directory: string;
  /** True when it has rclone and the certificates of authorities, for copies with cloud storage. */
  readonly copiesToClouds: boolean;
};

/** The toolbox's folder in containers. */
export const TOOLBOX_PATH = "/.berth";

/** The certificates of authorities in the toolbox. */
export const AUTHORITIES = "lib/ca-certificates.crt";

/** Paths of a program on the host, of which the first that exists is taken, and the Debian package that brings it. */
type Source = { readonly places: readonly string[]; readonly packageName: string };

export type ToolboxSources = {
  readonly busybox: Source;
  readonly sftpServer: Source;
  readonly rsync: Source;
  readonly rclone: Source;
  /** The certificates of the authorities that this host trusts, in one file. */
  readonly certificates: Source;
};

export const DEBIAN_SOURCES: ToolboxSources = {
  busybox: { places: ["/bin/busybox", "/usr/bin/busybox"], packageName: "busybox-static" },
  sftpServer: {
    places: [
      "/usr/lib/openssh/sftp-server",
      "/usr/libexec/openssh/sftp-server",
      "/usr/libexec/sftp-server",
      "/usr/lib/ssh/sftp-server",
      "/usr/lib/sftp-server",
    ],
    packageName: "openssh-sftp-server",
  },
  rsync: { places: ["/usr/bin/rsync", "/usr/local/bin/rsync"], packageName: "rsync" },
  rclone: { places: ["/usr/bin/rclone", "/usr/local/bin/rclone"], packageName: "rclone" },
  certificates: {
    places: ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt"],
    packageName: "ca-certificates",
  },
};

/** The one program that prints what another needs to run: which libraries, and the loader. */
export type ListLibraries = (program: string) => Promise<string>;

export type PreparedToolbox =
  | { readonly ok: true; readonly toolbox: Toolbox }
  | { readonly ok: false; readonly problem: string };

const DIRECTORY_MODE = 0o755;
const PROGRAM_MODE = 0o755;
const HASH_DIGITS = 16;

type Library = { readonly name: string; readonly path: string };
type Program = { readonly name: string; readonly path: string; readonly libraries: readonly Library[] };
type Part = { readonly path: string; readonly content: Buffer };

const execute = promisify(execFile);

/** Puts the toolbox together; cheap to repeat. A failure names the packages of missing programs. */
export async function prepareToolbox(input: {
  readonly stateDir: string;
  readonly sources?: ToolboxSources;
  readonly listLibraries?: ListLibraries;
}): Promise<PreparedToolbox> {
  const sources = input.sources ?? DEBIAN_SOURCES;
  const listLibraries = input.listLibraries ?? ldd;
  const busybox = await findProgram(sources.busybox);
  const sftpServer = await findProgram(sources.sftpServer);
  const missing = [
    ...(busybox === undefined ? [sources.busybox.packageName] : []),
    ...(sftpServer === undefined ? [sources.sftpServer.packageName] : []),
  ];
  if (busybox === undefined || sftpServer === undefined) {
    return { ok: false, problem: `programs for containers are missing: apt-get install ${missing.join(" ")}` };
  }
  try {
    const needed = parseLibraries(await listLibraries(busybox));
    if (needed.length > 0) {
      const { packageName } = sources.busybox;
      return { ok: false, problem: `${busybox} needs libraries of this system: apt-get install ${packageName}` };
    }
    const programs: Program[] = [await describe("sftp-server", sftpServer, listLibraries)];
    const rsync = await findProgram(sources.rsync);
    if (rsync !== undefined) programs.push(await describe("rsync", rsync, listLibraries));
    const rclone = await findProgram(sources.rclone);
    const certificates = await findFile(sources.certificates);
    const files = new Map([["busybox", busybox]]);
    if (rclone !== undefined && certificates !== undefined) {
      programs.push(await describe("rclone", rclone, listLibraries));
      files.set(AUTHORITIES, certificates);
    }
    const directory = await place(input.stateDir, await collect(files, programs));
    return { ok: true, toolbox: { directory, copiesToClouds: files.has(AUTHORITIES) } };
  } catch (cause) {
    return { ok: false, problem: `the programs for containers cannot be put together: ${String(cause)}` };
  }
}

function findProgram(source: Source): Promise<string | undefined> {
  return findFile(source, constants.X_OK);
}

async function findFile(source: Source, mode = constants.R_OK): Promise<string | undefined> {
  for (const path of source.places) {
    const isThere = await access(path, mode).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}

/** `ldd` exits with 1 for a program that needs nothing, and says so. */
async function ldd(program: string): Promise<string> {
  try {
    return (await execute("ldd", [program], { env: { ...process.env, LC_ALL: "C" } })).stdout;
  } catch (cause) {
    const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr) : "";
    if (said.includes("not a dynamic executable")) return "";
    throw cause;
  }
}

/** Lines are `name => path (address)`, or `path (address)` for the loader; the kernel's own part has no path. */
function parseLibraries(text: string): readonly Library[] {
  return text.split("\n").flatMap((line) => {
    const path = /(?:^|\s)(\/\S+)\s+\(0x[0-9a-f]+\)$/.exec(line.trim())?.[1];
    if (path !== undefined) return [{ name: basename(path), path }];
    if (line.includes("not found")) throw new Error(`a library is missing: ${line.trim()}`);
    return [];
  });
}

async function describe(name: string, path: string, listLibraries: ListLibraries): Promise<Program> {
  return { name, path, libraries: parseLibraries(await listLibraries(path)) };
}

/** `plain` are files of the host by their paths in the toolbox. */
async function collect(plain: ReadonlyMap<string, string>, programs: readonly Program[]): Promise<readonly Part[]> {
  const files = new Map(plain);
  const parts: Part[] = [];
  for (const { name, path, libraries } of programs) {
    files.set(`lib/${name}`, path);
    for (const library of libraries) files.set(`lib/${library.name}`, library.path);
    const loader = libraries.find((library) => /^ld(-linux.*|-musl.*|64)?\.so/.test(library.name));
    parts.push({ path: `bin/${name}`, content: Buffer.from(wrapper(name, loader?.name)) });
  }
  for (const [path, source] of files) parts.push({ path, content: await readFile(source) });
  return parts.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Starts the host's program under the host's loader, so that nothing of the image is linked in; what an image sets for
 * its own loader must not reach it either. The programs look up the user's name, which fails where there is no
 * `/etc/passwd`.
 */
function wrapper(name: string, loader: string | undefined): string {
  const library = `${TOOLBOX_PATH}/lib`;
  const start =
    loader === undefined
      ? `${library}/${name}`
      : `${library}/${loader} --inhibit-cache --library-path ${library} ${library}/${name}`;
  return `#!${TOOLBOX_PATH}/busybox sh
unset LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT
if [ ! -e /etc/passwd ]; then
  ${TOOLBOX_PATH}/busybox mkdir -p /etc
  echo 'root:x:0:0:root:/root:/bin/sh' > /etc/passwd
fi 2> /dev/null
exec ${start} "$@"
`;
}

/** Makes the folder beside its place and renames it, so that a half-made one is never seen under its name. */
async function place(stateDirectory: string, parts: readonly Part[]): Promise<string> {
  const hash = createHash("sha256");
  for (const { path, content } of parts) hash.update(`${path}\0${content.length}\0`).update(content);
  const root = join(stateDirectory, "toolbox");
  const directory = join(root, hash.digest("hex").slice(0, HASH_DIGITS));
  if (await isWhole(directory, parts)) return directory;
  await mkdir(root, { recursive: true });
  const draft = await mkdtemp(join(root, ".new-"));
  try {
    for (const folder of [draft, join(draft, "bin"), join(draft, "lib")]) {
      await mkdir(folder, { recursive: true });
      await chmod(folder, DIRECTORY_MODE);
    }
    for (const { path, content } of parts) {
      await writeFile(join(draft, path), content);
      await chmod(join(draft, path), PROGRAM_MODE);
    }
    await rename(draft, directory).catch(async (cause: unknown) => {
      // Somebody else was faster, or an earlier one is damaged: containers may use its files, so they are replaced.
      if (await isWhole(directory, parts)) return;
      await mend(draft, directory, parts).catch(() => Promise.reject(cause));
    });
    return directory;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function mend(draft: string, directory: string, parts: readonly Part[]): Promise<void> {
  for (const folder of ["bin", "lib"]) await mkdir(join(directory, folder), { recursive: true });
  for (const { path } of parts) {
    await copyFile(join(draft, path), join(directory, `${path}.new`));
    await chmod(join(directory, `${path}.new`), PROGRAM_MODE);
    await rename(join(directory, `${path}.new`), join(directory, path));
  }
}

async function isWhole(directory: string, parts: readonly Part[]): Promise<boolean> {
  for (const { path, content } of parts) {
    const found = await readFile(join(directory, path)).catch(() => undefined);
    if (found === undefined || !found.equals(content)) return false;
  }
  return true;
}
