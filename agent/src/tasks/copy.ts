import { posix } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fail, succeed, type Program, type Result } from "../engine/engine.ts";
import { TOOLBOX_PATH } from "../machine/toolbox.ts";
import { emptyFolder, keepText, lookAt, openReader, openWriter, script } from "./archive.ts";
import { pathIn, type Site } from "./files.ts";

export type CopyInput = {
  readonly source: Site;
  readonly sourcePath: string;
  readonly destination: Site;
  readonly destinationPath: string;
  /** Files at the destination are removed first. */
  readonly isFresh: boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (copiedBytes: number) => void;
};

const BUSYBOX = `${TOOLBOX_PATH}/busybox`;

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
export async function copyFiles(input: CopyInput): Promise<Result<{ readonly copiedBytes: number }>> {
  const from = pathIn(input.source, input.sourcePath);
  const to = pathIn(input.destination, input.destinationPath);
  const looked = await lookAt(input.source, from, input.signal);
  if (!looked.ok) return looked;
  const shape = looked.value;
  if (shape === undefined) return fail("not_found", `there is nothing to copy at ${input.sourcePath}`);
  if (input.source.key === input.destination.key) {
    const copied = await script(input.source, COPY_WITHIN, [shape, from, to], input.signal);
    return copied.ok ? succeed({ copiedBytes: 0 }) : copied;
  }
  if (input.isFresh) {
    const emptied = await emptyFolder(input.destination, to, input.signal);
    if (!emptied.ok) return emptied;
  }
  const reader = await openReader(input.source, shape, from);
  if (!reader.ok) return reader;
  const writer = await openWriter(input.destination, { shape, name: posix.basename(from) }, to);
  if (!writer.ok) {
    reader.value.kill();
    return writer;
  }
  return stream(reader.value, writer.value, input);
}

async function stream(
  reader: Program,
  writer: Program,
  input: CopyInput,
): Promise<Result<{ readonly copiedBytes: number }>> {
  let copiedBytes = 0;
  const count = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      copiedBytes += chunk.length;
      input.onProgress(copiedBytes);
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
    // The two ends below say which side ended the stream, and why.
    await pipeline(reader.stdout, count, writer.stdin).catch(() => reader.kill());
    const [read, written] = await Promise.all([reader.ended, writer.ended]);
    if (input.signal.aborted) return fail("cancelled", "the copy was called off");
    if (!written.ok) return written;
    if (!read.ok) return read;
    if (written.value === 0 && read.value === 0) return succeed({ copiedBytes });
    const [fromReader = "", fromWriter = ""] = said.map((text) => text());
    const reason = written.value === 0 ? fromReader : fromWriter || fromReader;
    return fail("refused", reason || `the two sides ended with ${read.value} and ${written.value}`);
  } finally {
    input.signal.removeEventListener("abort", kill);
  }
}
