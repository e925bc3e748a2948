import ssh2, { type FileEntryWithStats, type SFTPWrapper, type Stats } from "ssh2";
import { AppError, conflict, forbidden, notFound } from "../../../../base/errors.ts";

const { NO_SUCH_FILE, PERMISSION_DENIED, EOF } = ssh2.utils.sftp.STATUS_CODE;

type Answer<T> = (error: Error | undefined | null, value: T) => void;

/** The result of one request of SFTP. */
export function ask<T>(request: (answer: Answer<T>) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    request((error, value) => (error ? reject(error) : resolve(value)));
  });
}

/** As `ask`, for requests whose answer is that they are done. */
export function order(request: (answer: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    request((error) => (error ? reject(error) : resolve()));
  });
}

/** The facts of what a path names, itself if it is a link; undefined when there is nothing. */
export async function look(sftp: SFTPWrapper, path: string): Promise<Stats | undefined> {
  try {
    return await ask<Stats>((answer) => sftp.lstat(path, answer));
  } catch (error) {
    if (codeOf(error) === NO_SUCH_FILE) return undefined;
    throw error;
  }
}

/** The next entries of an open folder; empty at its end. */
export async function readEntries(sftp: SFTPWrapper, handle: Buffer): Promise<readonly FileEntryWithStats[]> {
  try {
    return await ask<FileEntryWithStats[]>((answer) => sftp.readdir(handle, answer));
  } catch (error) {
    if (codeOf(error) === EOF) return [];
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

export function noSuchFile(path: string): AppError {
  return notFound("no_such_file", `There is nothing at ${quoted(path)}.`);
}

/** A path in a message: control characters, such as line ends, are shown as escapes. */
export function quoted(path: string): string {
  return JSON.stringify(path);
}

/** The refusal that a failure of the instance's SFTP means to a caller. */
export function refusalOf(cause: unknown, path: string): AppError {
  if (cause instanceof AppError) return cause;
  const code = codeOf(cause);
  if (code === NO_SUCH_FILE) return noSuchFile(path);
  if (code === PERMISSION_DENIED) {
    return forbidden(`The instance does not permit this at ${quoted(path)}.`, "file_not_permitted");
  }
  if (typeof code === "number") {
    const words = cause instanceof Error ? cause.message.slice(0, 200) : "";
    return conflict("file_refused", `The instance refused this at ${quoted(path)}: ${words}.`, { cause });
  }
  return conflict("shell_unavailable", "The connection to the instance broke. Try again in a moment.", { cause });
}
