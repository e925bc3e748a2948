import type { PullProgress } from "../engine/engine.ts";
import type { ObservedInstance } from "../wire/messages.ts";

const BYTES_PER_MB = 1e6;
/** Words that clients take for a failure of the instance (docs/contract-rules.md#words-of-an-instances-status). */
const ALARMING = /error|fail|exception|traceback|oci runtime|permission denied/i;

/** The status text of a pull, such as `pulling busybox: 12.3 of 40.1 MB, 8.2 MB/s`. */
export function describePull(image: string, progress: PullProgress, elapsedMs: number): string {
  return describeTransfer(`pulling ${harmless(image)}`, progress, elapsedMs);
}

/** How far a pull has come, in bytes; undefined while the size of the image is not known. */
export function measurePull({ receivedBytes, totalBytes }: PullProgress, elapsedMs: number): ObservedInstance["pull"] {
  if (totalBytes <= 0) return undefined;
  const bytesPerSecond = elapsedMs <= 0 ? 0 : Math.round(receivedBytes / (elapsedMs / 1000));
  return { doneBytes: Math.min(receivedBytes, totalBytes), totalBytes, bytesPerSecond };
}

/** The status text of a push. */
export function describePush(image: string, progress: PullProgress, elapsedMs: number): string {
  return describeTransfer(`pushing ${harmless(image)}`, progress, elapsedMs);
}

/** Bytes of a copy, whose whole is not known before its end. */
export function describeCopy(copiedBytes: number, elapsedMs: number): string {
  return `copying: ${megabytes(copiedBytes)} MB, ${rate(copiedBytes, elapsedMs)} MB/s`;
}

function describeTransfer(what: string, progress: PullProgress, elapsedMs: number): string {
  const { receivedBytes, totalBytes } = progress;
  if (totalBytes === 0) return what;
  const share = `${megabytes(receivedBytes)} of ${megabytes(totalBytes)} MB`;
  return `${what}: ${share}, ${rate(receivedBytes, elapsedMs)} MB/s`;
}

/** Clients must not take words of an image's name for the end of its pull. */
function harmless(image: string): string {
  return ALARMING.test(image) ? "the image" : image;
}

function megabytes(bytes: number): string {
  return (bytes / BYTES_PER_MB).toFixed(1);
}

function rate(bytes: number, elapsedMs: number): string {
  return elapsedMs <= 0 ? "0.0" : (bytes / BYTES_PER_MB / (elapsedMs / 1000)).toFixed(1);
}
