import { posix } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { fail, succeed, type Program, type Result } from "../engine/engine.ts";
import { collectOutput } from "../engine/program.ts";
import { TOOLBOX_PATH } from "../machine/toolbox.ts";
import type { Site } from "./files.ts";

/** The source of a copy: a file (or link), a folder under its own name, or the contents of a folder. */
export type Shape = "file" | "folder" | "contents";

const BUSYBOX = `${TOOLBOX_PATH}/busybox`;
const SHORT_OUTPUT_BYTES = 4_096;
/** The two empty blocks at the end of each tar archive. */
const END_BYTES = 1_024;

const LOOK = `
case "$1" in
  */) [ -d "$1" ] && echo contents || echo nothing ;;
  *) if [ -L "$1" ]; then echo file; elif [ -d "$1" ]; then echo folder; elif [ -e "$1" ]; then echo file; else echo nothing; fi ;;
esac`;

/** Folders that the system fills: without files of the renter, and without an end. */
const SYSTEM_FOLDERS = ["proc", "sys", "dev", TOOLBOX_PATH.slice(1)];
const READ = `cd "$1" && shift && exec ${BUSYBOX} tar -c -f - "$@"`;
/** Everything in the root by its names, since Debian's busybox knows no option that leaves a folder out. */
const READ_ROOT = `
cd /
for one in * .[!.]* ..?*; do
  case "$one" in ${SYSTEM_FOLDERS.join("|")}) continue ;; esac
  if [ -e "$one" ] || [ -L "$one" ]; then set -- "$@" "./$one"; fi
done
exec ${BUSYBOX} tar -c -f - "$@"`;

/** A single file may get another name on the way, which an archive cannot express: it is unpacked aside and moved. */
const WRITE = `
shape=$1 target=$2 name=$3
if [ "$shape" = file ]; then
  case "$target" in */) shape=folder ;; esac
  [ ! -d "$target" ] || shape=folder
fi
if [ "$shape" != file ]; then
  ${BUSYBOX} mkdir -p "$target" && cd "$target" && exec ${BUSYBOX} tar -x -p -f -
fi
parent=\${target%/*}
${BUSYBOX} mkdir -p "$parent/" && aside=$(${BUSYBOX} mktemp -d "$parent/.berth-copy-XXXXXX") || exit 1
(cd "$aside" && exec ${BUSYBOX} tar -x -p -f -) && ${BUSYBOX} mv -f "$aside/$name" "$target"
code=$?
${BUSYBOX} rm -rf "$aside"
exit $code`;

const EMPTY = `
cd "$1" || exit 1
for one in * .[!.]* ..?*; do
  if [ -e "$one" ] || [ -L "$one" ]; then ${BUSYBOX} rm -rf "./$one" || exit 1; fi
done`;

/** The shape of the source at a path; a slash at its end means the contents of a folder. */
export async function lookAt(site: Site, path: string, signal: AbortSignal): Promise<Result<Shape | undefined>> {
  const looked = await script(site, LOOK, [path], signal);
  return looked.ok ? succeed(readShape(looked.value)) : looked;
}

function readShape(output: string): Shape | undefined {
  const word = output.trim();
  return word === "file" || word === "folder" || word === "contents" ? word : undefined;
}

/** Begins to pack what is at a path; the archive is what the program prints. */
export function openReader(site: Site, shape: Shape, path: string): Promise<Result<Program>> {
  if (shape === "contents" && path === "/") return site.open(["sh", "-c", READ_ROOT, "berth-copy"]);
  const [folder, what] = shape === "contents" ? [path, "."] : [posix.dirname(path), `./${posix.basename(path)}`];
  return site.open(["sh", "-c", READ, "berth-copy", folder, what]);
}

/** The archive of a place without files: nothing but the end of an archive. */
export function emptyArchive(): Program {
  return {
    stdin: new PassThrough(),
    stdout: Readable.from([Buffer.alloc(END_BYTES)]),
    stderr: Readable.from([]),
    ended: Promise.resolve(succeed(0)),
    kill: () => undefined,
  };
}

/** Begins to unpack at a path; the archive is what the program is given. `name` is what a single file has in it. */
export function openWriter(
  site: Site,
  { shape, name }: { readonly shape: Shape; readonly name: string },
  path: string,
): Promise<Result<Program>> {
  return site.open(["sh", "-c", WRITE, "berth-copy", shape, path, name]);
}

/** Removes everything from a folder, and leaves the folder. */
export async function emptyFolder(site: Site, path: string, signal: AbortSignal): Promise<Result<void>> {
  const emptied = await script(site, EMPTY, [path], signal);
  return emptied.ok ? succeed(undefined) : emptied;
}

/** Runs a short program and returns its output; a failure has its words. */
export async function script(
  site: Site,
  text: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<Result<string>> {
  const program = await site.open(["sh", "-c", text, "berth-copy", ...args]);
  if (!program.ok) return program;
  const output = await collectOutput(program.value, { signal, outputLimitBytes: SHORT_OUTPUT_BYTES });
  if (!output.ok) return output;
  const { exitCode, stdout, stderr } = output.value;
  return exitCode === 0 ? succeed(String(stdout)) : fail("refused", String(stderr).trim() || `ended with ${exitCode}`);
}

/** The beginning of a program's complaints. */
export function keepText(program: Program): () => string {
  let text = "";
  program.stderr.on("data", (data: Buffer) => {
    if (text.length < SHORT_OUTPUT_BYTES) text += data.toString("utf8");
  });
  return () => text.slice(0, SHORT_OUTPUT_BYTES).trim();
}
