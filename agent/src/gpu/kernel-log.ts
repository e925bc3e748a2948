import { constants } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";

export type KernelLine = {
  /** Grows with each line since the machine's start. */
  readonly sequence: number;
  readonly text: string;
  /** True for a line that was there already when the log was opened. */
  readonly isPast: boolean;
};

/** Gives each line that the kernel itself wrote, the old ones first, until the returned function is called. */
export type KernelLog = (onLine: (line: KernelLine) => void, onFailure: (cause: unknown) => void) => () => void;

const PATH = "/dev/kmsg";
const POLL_MS = 1_000;
/** One record fits; the kernel refuses to give a part of one. */
const RECORD_BYTES = 16_384;

/**
 * Follows the kernel's ring buffer, which needs root. It is polled: a read that waits would hold one of the process's few
 * threads for good, and could not be called off.
 */
export function followKernelLog(clock: Clock): KernelLog {
  return (onLine, onFailure) => {
    const closing = new AbortController();
    void follow(clock, closing.signal, onLine).catch(onFailure);
    return () => closing.abort();
  };
}

async function follow(clock: Clock, signal: AbortSignal, onLine: (line: KernelLine) => void): Promise<void> {
  const file = await open(PATH, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    let isPast = true;
    while (!signal.aborted) {
      for (;;) {
        const record = await readRecord(file);
        if (record === undefined) break;
        const line = parseRecord(record);
        if (line && !signal.aborted) onLine({ ...line, isPast });
      }
      isPast = false;
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await file.close();
  }
}

/** The next record; undefined when there is none at present, empty for records that were lost. */
async function readRecord(file: FileHandle): Promise<string | undefined> {
  const buffer = Buffer.alloc(RECORD_BYTES);
  try {
    const { bytesRead } = await file.read(buffer, 0, RECORD_BYTES, null);
    return bytesRead === 0 ? undefined : buffer.toString("utf8", 0, bytesRead);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "EAGAIN") return undefined;
    // The ring went round before these lines were read; the next read goes on with the oldest that is left.
    if (code === "EPIPE") return "";
    throw cause;
  }
}

/**
 * Reads `6,1234,5678901,-;text`. Undefined for what is not the kernel's own: programs may write into the log too, and
 * theirs carry another facility, which the kernel sees to.
 */
export function parseRecord(record: string): { readonly sequence: number; readonly text: string } | undefined {
  const match = /^(\d+),(\d+),\d+,[^;]*;(.*)/.exec(record);
  if (!match || Number(match[1]) > 7) return undefined;
  return { sequence: Number(match[2]), text: match[3] ?? "" };
}
