import type { TransferMessage } from "../../../../../../protocol/index.ts";
import type { TransferSocket } from "../../../../../../tunnel/transfer-socket.ts";
import type { Clock } from "../../../../base/clock.ts";
import type { BackupSettings } from "../backup.ts";
import type { BackupFolder, FileId } from "../folder.ts";

export type Connection = TransferSocket<TransferMessage>;

/** The end of one connection on which a host sends a backup. */
export type Received =
  | { readonly kind: "kept"; readonly sizeBytes: number }
  /** There will be no backup; the reason is for its owner. */
  | { readonly kind: "refused"; readonly problem: string }
  /** The connection broke, or the host itself says why it cannot go on: its task has the last word. */
  | { readonly kind: "broken" };

export type ReceiveInput = {
  readonly connection: Connection;
  readonly folder: BackupFolder;
  readonly file: FileId;
  readonly clock: Clock;
  readonly settings: BackupSettings;
};

/** A host that sends nothing for this long is cut off; its agent connects again. */
const SILENCE_MS = 120_000;
const GZIP_MARK = [0x1f, 0x8b] as const;

/** Stores what a host sends, unread, as long as it is not more than a backup may have. */
export async function receiveBackup({ connection, folder, file, clock, settings }: ReceiveInput): Promise<Received> {
  const bound = new Bound(settings.limitBytes);
  const watch = watchSilence(connection, clock, () => bound.bytes);
  try {
    const start = await connection.hear();
    if (start?.kind !== "transfer_start") return { kind: "broken" };
    // Anything more that the host says is the reason for which it gives up.
    void connection.hear().then(() => connection.cut());
    return await store({ connection, folder, file, bound });
  } finally {
    watch.stop();
  }
}

async function store(input: Pick<ReceiveInput, "connection" | "folder" | "file"> & { readonly bound: Bound }) {
  const { connection, folder, file, bound } = input;
  let handle;
  try {
    handle = await folder.createDraft(file);
  } catch (error) {
    return refuse(error);
  }
  try {
    await handle.writeFile(bound.pass(connection.input));
    bound.requireGzip();
    await folder.keep(file, handle);
    return { kind: "kept", sizeBytes: bound.bytes } as const;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await folder.remove({ ...file, isDraft: true });
    return bound.problem === undefined ? refuse(error) : ({ kind: "refused", problem: bound.problem } as const);
  }
}

/** A disk that is full or broken ends the backup; a connection that broke does not. */
function refuse(error: unknown): Received {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOSPC" || code === "EDQUOT") {
    return { kind: "refused", problem: "the service has no room left for backups" };
  }
  return ["EACCES", "EIO", "ENOENT", "EROFS"].includes(code)
    ? { kind: "refused", problem: "the service could not write to its folder of backups" }
    : { kind: "broken" };
}

function watchSilence(connection: Connection, clock: Clock, bytes: () => number): { stop(): void } {
  let seen = -1;
  const stop = clock.every(SILENCE_MS, () => {
    if (bytes() === seen) connection.cut();
    seen = bytes();
  });
  return { stop };
}

/** Passes bytes on up to a limit, and looks at the first two. */
class Bound {
  bytes = 0;
  problem: string | undefined;
  readonly #limit: number;
  readonly #mark: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  requireGzip(): void {
    if (GZIP_MARK.every((byte, index) => this.#mark[index] === byte)) return;
    this.#fail("its host sent something that is no backup");
  }

  async *pass(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of source) {
      if (this.#mark.length < GZIP_MARK.length) this.#mark.push(...chunk.subarray(0, GZIP_MARK.length));
      this.bytes += chunk.length;
      if (this.bytes > this.#limit) {
        this.#fail(`it is larger than ${this.#limit / 1e9} GB, the most that this service keeps of one contract`);
      }
      yield chunk;
    }
  }

  #fail(problem: string): never {
    this.problem = problem;
    throw new Error(problem);
  }
}
