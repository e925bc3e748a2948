import { posix } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fail, succeed, type Program, type Result } from "../engine.ts";
import { collectOutput } from "../program.ts";
import { TOOLBOX_PATH } from "../toolbox.ts";
import { pathIn, type Site } from "./files.ts";

export type CopyInput = {
  readonly source: Site;
  readonly source_path: string;
  readonly destination: Site;
  readonly destination_path: string;
  readonly signal: AbortSignal;
  readonly onProgress: (copied_bytes: number) => void;
};

/** What is copied: a file (or link), a folder under its own name, or what is in a folder. */
type Shape = "file" | "folder" | "contents";

const BUSYBOX = `${TOOLBOX_PATH}/busybox`;
const SHORT_OUTPUT_BYTES = 4_096;

const LOOK = `
case "$1" in
  */) [ -d "$1" ] && echo contents || echo nothing ;;
  *) if [ -L "$1" ]; then echo file; elif [ -d "$1" ]; then echo folder; elif [ -e "$1" ]; then echo file; else echo nothing; fi ;;
esac`;

/** What the system shows in these folders is no file of the renter, and has no end. */
const SYSTEM_FOLDERS = ["proc", "sys", "dev", TOOLBOX_PATH.slice(1)];
const READ = `cd "$1" && shift && exec ${BUSYBOX} tar -c -f - "$@"`;

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

const COPY_WITHIN = `
shape=$1 from=$2 target=$3
if [ "$shape" = file ]; then
  case "$target" in */) shape=folder ;; esac
  [ ! -d "$target" ] || shape=folder
fi
case "$shape" in
  contents) ${BUSYBOX} mkdir -p "$target" && exec ${BUSYBOX} cp -a "$from." "$target/" ;;
  folder) ${BUSYBOX} mkdir -p "$target" && exec ${BUSYBOX} cp -a "$from" "$target/" ;;
  file) ${BUSYBOX} mkdir -p "\${target%/*}/" && exec ${BUSYBOX} cp -a "$from" "$target" ;;
esac`;

/**
 * Copies files with owners and modes between two places of this host, as `rsync -a` would name them: a trailing slash
 * on the source means its contents. The bytes stream from one program to the other and wait for the slower one.
 */
export async function copyFiles(input: CopyInput): Promise<Result<{ readonly copied_bytes: number }>> {
  const from = pathIn(input.source, input.source_path);
  const to = pathIn(input.destination, input.destination_path);
  const looked = await script(input.source, LOOK, [from], input.signal);
  if (!looked.ok) return looked;
  const shape = readShape(looked.value);
  if (shape === undefined) return fail("not_found", `there is nothing to copy at ${input.source_path}`);
  if (input.source.key === input.destination.key) {
    const copied = await script(input.source, COPY_WITHIN, [shape, from, to], input.signal);
    return copied.ok ? succeed({ copied_bytes: 0 }) : copied;
  }
  const reader = await input.source.open(["sh", "-c", READ, "berth-copy", ...whatToRead(shape, from)]);
  if (!reader.ok) return reader;
  const name = posix.basename(from);
  const writer = await input.destination.open(["sh", "-c", WRITE, "berth-copy", shape, to, name]);
  if (!writer.ok) {
    reader.value.kill();
    return writer;
  }
  return stream(reader.value, writer.value, input);
}

function readShape(output: string): Shape | undefined {
  const word = output.trim();
  return word === "file" || word === "folder" || word === "contents" ? word : undefined;
}

/** The folder to go to, and what to pack there. */
function whatToRead(shape: Shape, from: string): string[] {
  if (shape !== "contents") return [posix.dirname(from), `./${posix.basename(from)}`];
  const left_out = from === "/" ? SYSTEM_FOLDERS.map((folder) => `--exclude=./${folder}`) : [];
  return [from, ...left_out, "."];
}

/** Runs a short program; what it has to say is its output, or the reason why it did not succeed. */
async function script(site: Site, text: string, args: readonly string[], signal: AbortSignal): Promise<Result<string>> {
  const program = await site.open(["sh", "-c", text, "berth-copy", ...args]);
  if (!program.ok) return program;
  const output = await collectOutput(program.value, { signal, output_limit_bytes: SHORT_OUTPUT_BYTES });
  if (!output.ok) return output;
  const { exit_code, stdout, stderr } = output.value;
  return exit_code === 0
    ? succeed(String(stdout))
    : fail("refused", String(stderr).trim() || `ended with ${exit_code}`);
}

async function stream(
  reader: Program,
  writer: Program,
  input: CopyInput,
): Promise<Result<{ readonly copied_bytes: number }>> {
  let copied_bytes = 0;
  const count = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      copied_bytes += chunk.length;
      input.onProgress(copied_bytes);
      done(null, chunk);
    },
  });
  const kill = () => {
    reader.kill();
    writer.kill();
  };
  if (input.signal.aborted) kill();
  input.signal.addEventListener("abort", kill, { once: true });
  reader.stdin.on("error", () => undefined);
  reader.stdin.end();
  writer.stdout.resume();
  const said = [keepText(reader), keepText(writer)];
  try {
    // Which side ended the stream, and why, is said by the two ends below.
    await pipeline(reader.stdout, count, writer.stdin).catch(() => reader.kill());
    const [read, written] = await Promise.all([reader.ended, writer.ended]);
    if (input.signal.aborted) return fail("cancelled", "the copy was called off");
    if (!written.ok) return written;
    if (!read.ok) return read;
    if (written.value === 0 && read.value === 0) return succeed({ copied_bytes });
    const [fromReader = "", fromWriter = ""] = said.map((text) => text());
    const reason = written.value === 0 ? fromReader : fromWriter || fromReader;
    return fail("refused", reason || `the two sides ended with ${read.value} and ${written.value}`);
  } finally {
    input.signal.removeEventListener("abort", kill);
  }
}

/** The beginning of what a program has to complain about. */
function keepText(program: Program): () => string {
  let text = "";
  program.stderr.on("data", (data: Buffer) => {
    if (text.length < SHORT_OUTPUT_BYTES) text += data.toString("utf8");
  });
  return () => text.slice(0, SHORT_OUTPUT_BYTES).trim();
}
