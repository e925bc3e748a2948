import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { UserError } from "../failure.ts";
import type { Progress, ProgressBar } from "./progress-bar.ts";

/** The end of a run of rsync, and what it counted. */
export type Copied = {
  readonly exitCode: number;
  /** True when a signal ended it: the exit code may then be that of its broken connection. */
  readonly isInterrupted: boolean;
  /** Files that were sent, whole or in part; others were there already. */
  readonly filesCopied: number;
  readonly sizeBytes: number;
  /** Bytes of files that travelled, before compression. */
  readonly sentBytes: number;
};

/** Folder beside a file that holds its beginning after an interruption. A later run goes on from it and removes it. */
const PARTIAL_FOLDER = ".berth-partial";
const MEGABYTE = 1_000_000;
const KIBIBYTE = 1024;
const SIGNAL_BASE = 128;
/** The exit code of rsync that a signal ended. */
const INTERRUPTED = 20;
const PROGRESS = /^\s*(\d+)\s+(\d+)%\s+(\S+\/s)\s+(\d+:\d\d:\d\d)/;

/**
 * Arguments that rsync 3.2.3 knows, and newer versions still do. Files keep times, modes and links; their owner is who
 * writes them: people of one computer mean nothing on the other.
 */
export function rsyncArguments(copy: {
  readonly source: string;
  readonly destination: string;
  readonly sshOptions: readonly string[];
  readonly limitMegabytes: number | undefined;
}): readonly string[] {
  const { limitMegabytes: limit } = copy;
  const shell = ["ssh", ...copy.sshOptions].map(quoted).join(" ");
  return [
    ...["--archive", "--no-owner", "--no-group", "--compress", "--protect-args", "--mkpath"],
    ...[`--partial-dir=${PARTIAL_FOLDER}`, "--no-inc-recursive", "--no-human-readable"],
    ...["--info=progress2", "--stats", "--outbuf=L", "-e", shell],
    ...(limit === undefined ? [] : [`--bwlimit=${Math.max(1, Math.round((limit * MEGABYTE) / KIBIBYTE))}`]),
    ...["--", copy.source, copy.destination],
  ];
}

/** A word of rsync's option -e, where a quote within quotes is doubled. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "''")}'`;
}

/**
 * Runs rsync to its end and shows its progress; its complaints go to the error output at once. It ends early when `over`
 * aborts, and keeps what it has of a file.
 */
export async function runRsync(args: readonly string[], bar: ProgressBar, over: AbortSignal): Promise<Copied> {
  const counts = new Map<string, number>();
  const child = spawn("rsync", args, {
    stdio: ["ignore", "pipe", "pipe"],
    // Its numbers are read.
    env: { ...process.env, LC_ALL: "C.UTF-8" },
  });
  const ended = endOf(child);
  onLines(child.stdout, (line) => {
    const progress = readProgress(line);
    if (progress !== undefined) return bar.show(progress);
    const [, name, count] = /^([A-Z][a-z ]+): (\d+)/.exec(line) ?? [];
    if (name !== undefined) counts.set(name, Number(count));
  });
  onLines(child.stderr, (line) => {
    if (line === "" || over.aborted) return;
    bar.clear();
    process.stderr.write(`${line.replace(/\p{Cc}/gu, " ")}\n`);
  });
  // The terminal sends an interrupt to rsync as well; a second signal would not let it keep what it has.
  const end = () => {
    if (over.reason !== "SIGINT") child.kill("SIGTERM");
  };
  over.addEventListener("abort", end, { once: true });
  try {
    const exitCode = await ended;
    return {
      exitCode,
      isInterrupted: over.aborted || exitCode === INTERRUPTED,
      filesCopied: counts.get("Number of regular files transferred") ?? 0,
      sizeBytes: counts.get("Total file size") ?? 0,
      sentBytes: counts.get("Literal data") ?? 0,
    };
  } finally {
    over.removeEventListener("abort", end);
    bar.clear();
  }
}

/** A line such as `  1234567  12%  110.77MB/s    0:00:01`; undefined for any other. */
export function readProgress(line: string): Progress | undefined {
  const [, bytes, percent, speed, timeLeft] = PROGRESS.exec(line) ?? [];
  if (bytes === undefined || speed === undefined || timeLeft === undefined) return undefined;
  const isEndOfFile = line.includes("(xfr#");
  return { bytes: Number(bytes), percent: Number(percent), speed, timeLeft: isEndOfFile ? undefined : timeLeft };
}

/** Lines as they come; a carriage return ends one, too. */
function onLines(stream: Readable, take: (line: string) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = `${rest}${text}`.split(/[\r\n]/);
    rest = lines.pop() ?? "";
    for (const line of lines) take(line);
  });
  stream.on("end", () => take(rest));
}

function endOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => {
      const isMissing = "code" in error && error.code === "ENOENT";
      reject(isMissing ? new UserError("There is no rsync here.", "On Debian or Ubuntu: apt install rsync") : error);
    });
    child.once("close", (code, signal) =>
      resolve(code ?? SIGNAL_BASE + (signal === null ? 1 : constants.signals[signal])),
    );
  });
}
