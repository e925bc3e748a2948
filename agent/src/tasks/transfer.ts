import { posix } from "node:path";
import { Duplex, Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { withoutDevices } from "../../../tunnel/tar.ts";
import type { TransferMessage } from "../wire/messages.ts";
import { backOffDelay, type BackOff } from "../base/back-off.ts";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type Program, type Result } from "../engine/engine.ts";
import type { dialTransfer, TransferConnection } from "../streams/transfer-connection.ts";
import { emptyArchive, emptyFolder, keepText, lookAt, openReader, openWriter, type Shape } from "./archive.ts";
import { pathIn, type Site } from "./files.ts";

type TransferMeans = {
  readonly clock: Clock;
  readonly random: () => number;
  readonly dial: () => ReturnType<typeof dialTransfer>;
  readonly isCompressed: boolean;
  readonly signal: AbortSignal;
  readonly onWait: () => void;
  readonly onProgress: (copiedBytes: number) => void;
};
export type TransferInput = TransferMeans & { readonly site: Site; readonly path: string };
export type BackupInput = TransferMeans & {
  /** The site of the files; undefined on a simulated host, whose backups are empty. */
  readonly site: Site | undefined;
};

/** An archive that is being packed, before it is sent. */
type Packing = { readonly shape: Shape; readonly name: string; readonly reader: Program };
type SendInput = TransferMeans & {
  readonly open: () => Promise<Result<Packing>>;
  /** Devices are left out of the archive. */
  readonly isWithoutDevices: boolean;
};

type Copied = { readonly copiedBytes: number };
/** The result of an attempt; undefined when the connection broke: no side has a verdict, and both begin again. */
type Attempt = Result<Copied> | undefined;

const AGAIN: BackOff = { firstMs: 500, limitMs: 15_000 };
/** Files of random bytes gain nothing and cost little; text shrinks to a third all the same. */
const GZIP_LEVEL = 1;
const OVER = "the other host is done with it, or it was called off";
const TEXT_LIMIT = 4_096;

/** Packs what is at a path and sends it to the other host. */
export function sendFiles(input: TransferInput): Promise<Result<Copied>> {
  return send({ ...input, isWithoutDevices: false, open: () => openPath(input) });
}

/** Packs all files of a site and sends them to the control plane. */
export function sendBackup({ site, ...input }: BackupInput): Promise<Result<Copied>> {
  const open = async (): Promise<Result<Packing>> =>
    site === undefined
      ? succeed({ shape: "contents", name: "", reader: emptyArchive() })
      : openPath({ ...input, site, path: "/" });
  return send({ ...input, isWithoutDevices: true, open });
}

function send(input: SendInput): Promise<Result<Copied>> {
  return untilDecided(input, (connection) => sendOver(input, connection));
}

async function openPath({ site, path: asked, signal }: TransferInput): Promise<Result<Packing>> {
  const path = pathIn(site, asked);
  const looked = await lookAt(site, path, signal);
  if (!looked.ok) return looked;
  const shape = looked.value;
  if (shape === undefined) return fail("not_found", `there is nothing to copy at ${asked}`);
  const opened = await openReader(site, shape, path);
  if (!opened.ok) return opened;
  return succeed({ shape, name: shape === "file" ? posix.basename(path) : "", reader: opened.value });
}

/** Unpacks at a path what the other host sends. With `isFresh` files that are there already are removed first. */
export function receiveFiles(input: TransferInput & { readonly isFresh: boolean }): Promise<Result<Copied>> {
  return untilDecided(input, (connection) => receiveOver(input, connection));
}

/** Attempts the transfer until both sides agree on its end, as long as the server knows of it. */
async function untilDecided(
  input: TransferMeans,
  work: (connection: TransferConnection) => Promise<Attempt>,
): Promise<Result<Copied>> {
  const { clock, signal } = input;
  let failedCount = 0;
  while (!signal.aborted) {
    input.onWait();
    const dialled = await input.dial();
    if (dialled.ok) {
      const hangUp = () => dialled.connection.cut();
      signal.addEventListener("abort", hangUp, { once: true });
      if (signal.aborted) hangUp();
      const joined = await dialled.connection.hear();
      const result = joined?.kind === "transfer_joined" ? await work(dialled.connection) : undefined;
      signal.removeEventListener("abort", hangUp);
      if (result !== undefined && !signal.aborted) return conclude(dialled.connection, result);
      dialled.connection.close();
      // When the other side did not come in time, it is waited for again at once.
      failedCount = joined === undefined ? 0 : failedCount + 1;
    } else if (dialled.isFinal) return fail("refused", OVER);
    else failedCount += 1;
    await clock.sleep(backOffDelay(AGAIN, failedCount, input.random()), signal);
  }
  return fail("cancelled", "called off");
}

/** Tells the other side the reason of a failure here. */
function conclude(connection: TransferConnection, result: Result<Copied>): Result<Copied> {
  if (!result.ok)
    connection.say({ kind: "transfer_end", isSuccess: false, text: result.failure.message.slice(0, TEXT_LIMIT) });
  connection.close();
  return result;
}

async function sendOver(input: SendInput, connection: TransferConnection): Promise<Attempt> {
  const { signal } = input;
  const opened = await input.open();
  if (!opened.ok) return opened;
  const { shape, name, reader } = opened.value;
  const complaint = keepText(reader);
  const verdict = heedVerdict(connection, reader, signal);
  reader.stdin.end();
  connection.say({ kind: "transfer_start", shape, name });
  const count = new Counter(input.onProgress, reader.ended);
  const packing = [
    count,
    ...(input.isWithoutDevices ? [Duplex.from(withoutDevices)] : []),
    ...(input.isCompressed ? [createGzip({ level: GZIP_LEVEL })] : []),
  ];
  let hasEnded = false;
  void reader.ended.then(() => (hasEnded = true));
  let isConnectionBroken = false;
  await pipeline([reader.stdout, ...packing, connection.output]).catch(() => {
    // A connection that is just being closed takes nothing more, some time before it is heard to be closed.
    isConnectionBroken = !hasEnded;
    reader.kill();
  });
  const packed = await reader.ended;
  verdict.release();
  if (!verdict.isHeard && !isConnectionBroken) {
    if (!packed.ok) return packed;
    if (packed.value !== 0) return fail("refused", complaint() || `the files could not be packed: ${packed.value}`);
  }
  return readVerdict(await verdict.message, count.bytes);
}

async function receiveOver(
  input: TransferInput & { readonly isFresh: boolean },
  connection: TransferConnection,
): Promise<Attempt> {
  const { site, signal } = input;
  const start = await connection.hear();
  if (start?.kind !== "transfer_start") return readVerdict(start, 0);
  if (!isPlainName(start)) return fail("refused", "the other host names no file");
  const path = pathIn(site, input.path);
  if (input.isFresh) {
    const emptied = await emptyFolder(site, path, signal);
    if (!emptied.ok) return emptied;
  }
  const opened = await openWriter(site, start, path);
  if (!opened.ok) return opened;
  return unpack(input, connection, opened.value);
}

async function unpack(input: TransferInput, connection: TransferConnection, writer: Program): Promise<Attempt> {
  const complaint = keepText(writer);
  const verdict = heedVerdict(connection, writer, input.signal);
  writer.stdout.resume();
  const count = new Counter(input.onProgress);
  const unpacking = input.isCompressed ? [createGunzip(), count] : [count];
  let isDamaged = false;
  await pipeline([connection.input, ...unpacking, writer.stdin]).catch((cause: unknown) => {
    isDamaged = cause instanceof Error && "code" in cause && String(cause.code).startsWith("Z_");
    if (isDamaged) writer.kill();
  });
  const isAllHere = connection.input.readableEnded;
  const written = await writer.ended;
  verdict.release();
  const isWritten = written.ok && written.value === 0;
  if (isAllHere && isWritten) {
    connection.say({ kind: "transfer_end", isSuccess: true, text: "" });
    return succeed({ copiedBytes: count.bytes });
  }
  // A failure that followed the other side's is explained by the other side.
  if (verdict.isHeard) return readVerdict(await verdict.message, count.bytes);
  if (isDamaged) return fail("refused", "what came from the other host is damaged");
  if (!written.ok) return written;
  return isWritten ? undefined : fail("refused", complaint() || `the files could not be written: ${written.value}`);
}

/** Listens to the other side while a program works: any message of it, or its final silence, ends the program. */
function heedVerdict(connection: TransferConnection, program: Program, signal: AbortSignal) {
  const kill = () => program.kill();
  signal.addEventListener("abort", kill, { once: true });
  if (signal.aborted) kill();
  const heard = {
    isHeard: false,
    message: connection.hear().then((message) => {
      heard.isHeard = true;
      kill();
      return message;
    }),
    release: () => signal.removeEventListener("abort", kill),
  };
  return heard;
}

function readVerdict(message: TransferMessage | undefined, copiedBytes: number): Attempt {
  if (message?.kind !== "transfer_end") return undefined;
  return message.isSuccess ? succeed({ copiedBytes }) : fail("refused", message.text);
}

/** True for a name without a path: a single file is moved by it. */
function isPlainName({ shape, name }: Extract<TransferMessage, { readonly kind: "transfer_start" }>): boolean {
  return shape !== "file" || (name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name));
}

/** Passes bytes on and counts them. Their end is passed on only when their source has ended well. */
class Counter extends Transform {
  bytes = 0;
  readonly #onBytes: (bytes: number) => void;
  readonly #source: Promise<Result<number>> | undefined;

  constructor(onBytes: (bytes: number) => void, source?: Promise<Result<number>>) {
    super();
    this.#onBytes = onBytes;
    this.#source = source;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.bytes += chunk.length;
    this.#onBytes(this.bytes);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    void this.#finish(done);
  }

  async #finish(done: TransformCallback): Promise<void> {
    const ended = (await this.#source) ?? succeed(0);
    done(ended.ok && ended.value === 0 ? null : new Error("there is no good end"));
  }
}
