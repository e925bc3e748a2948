import { lstat, mkdtemp, rm, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { copyStart, type CopyStartAnswer } from "../../../../sdk/src/operations.ts";
import type { Client } from "../../../../sdk/src/client.ts";
import { connect, type ConnectionOptions } from "../../connect.ts";
import { copyKeyFor } from "../../copy/copy-key.ts";
import { noteInterrupts } from "../../copy/interrupts.ts";
import { untilLetIn } from "../../copy/login.ts";
import { bytesText, createProgressBar } from "../../copy/progress-bar.ts";
import { rsyncArguments, runRsync, type Copied } from "../../copy/rsync.ts";
import { UserError } from "../../failure.ts";
import { printAnswer } from "../../output.ts";
import type { Place } from "../../parse.ts";
import { trustOptions } from "../../ssh-trust.ts";

export type LocalCopyOptions = ConnectionOptions & {
  readonly json?: boolean;
  readonly identity?: string;
  /** Megabytes a second at most. */
  readonly limit?: number;
};

/** The way into the instance, as the server names it. */
type Door = {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly path: string;
  readonly hostKey: string | null;
};

/** Exit codes of rsync for files that it could not copy or that vanished meanwhile. */
const INCOMPLETE: ReadonlySet<number> = new Set([23, 24]);
const EXIT_INTERRUPTED = 130;
const NOTHING_COPIED: Copied = { exitCode: 0, isInterrupted: true, filesCopied: 0, sizeBytes: 0, sentBytes: 0 };

/** Copies between this computer and an instance with the system's rsync, to the end or to an interrupt. */
export async function copyLocally(source: Place, destination: Place, options: LocalCopyOptions): Promise<void> {
  const isUpload = source.id === "local";
  const here = isUpload ? await requireHere(source.path) : absolute(destination.path);
  const client = connect(options);
  const id = Number((isUpload ? destination : source).id.replace(/^C\./, ""));
  const body = { src_id: source.id, src_path: source.path, dst_id: destination.id, dst_path: destination.path };
  const door = doorOf(await copyStart(client, { body }));
  const folder = await mkdtemp(path.join(tmpdir(), "berth-copy-"));
  const interrupts = noteInterrupts();
  try {
    const copied = await copyWithKey(client, { id, door, folder, isUpload, here, over: interrupts.over }, options);
    report(copied, { name: `${destination.id}:${destination.path}`, options });
  } finally {
    interrupts.close();
    await rm(folder, { recursive: true, force: true });
  }
}

type Run = {
  readonly id: number;
  readonly door: Door;
  /** For files of this run; the caller removes it. */
  readonly folder: string;
  readonly isUpload: boolean;
  readonly here: string;
  readonly over: AbortSignal;
};

/** Runs rsync with a key that lets it in, and removes the key if it was made for this. */
async function copyWithKey(client: Client, run: Run, options: LocalCopyOptions): Promise<Copied> {
  const { id, door, folder, isUpload, here, over } = run;
  const bar = createProgressBar(process.stderr);
  const key = await copyKeyFor(client, { id, folder }, options.identity);
  try {
    const trust = await trustOptions({ id, ssh_host_key: door.hostKey }, folder);
    const alive = ["-o", "ServerAliveInterval=30", "-o", "ConnectionAttempts=5", "-o", "LogLevel=ERROR"];
    const sshOptions = [...trust, ...key.sshOptions, ...alive, "-p", String(door.port)];
    bar.say("Listing files…");
    if (key.isNew) await untilLetIn({ user: door.user, host: door.host, sshOptions }, over);
    if (over.aborted) return NOTHING_COPIED;
    const host = door.host.includes(":") ? `[${door.host}]` : door.host;
    const there = `${door.user}@${host}::${door.path}`;
    const ends = isUpload ? { source: here, destination: there } : { source: there, destination: here };
    return await runRsync(rsyncArguments({ ...ends, sshOptions, limitMegabytes: options.limit }), bar, over);
  } finally {
    bar.clear();
    await key.remove();
  }
}

function doorOf(answer: CopyStartAnswer): Door {
  const { rsync_user: user, rsync_path: there, ssh_host_key: hostKey = null } = answer;
  const [host, port] = [answer.dst_addr ?? answer.src_addr, answer.dst_port ?? answer.src_port];
  if (host === undefined || port === undefined || user === undefined || there === undefined) {
    throw new UserError("The server does not say where rsync may copy.", "It is older than this program: update it.");
  }
  return { host, port, user, path: there, hostKey };
}

/** The absolute path; the slash that means the contents of a folder stays. */
function absolute(text: string): string {
  const isContents = /(^|\/)\.?$/.test(text);
  const full = path.resolve(text.replace(/^~(?=\/|$)/, homedir()));
  return isContents && full !== "/" ? `${full}/` : full;
}

async function requireHere(text: string): Promise<string> {
  const full = absolute(text);
  const found = await (full.endsWith("/") ? stat(full) : lstat(full)).catch(() => undefined);
  if (found === undefined) {
    throw new UserError(`There is nothing to copy at ${full}.`, "Check the path behind `local:`.");
  }
  return full;
}

function report(
  { exitCode, isInterrupted, filesCopied, sizeBytes, sentBytes }: Copied,
  { name, options }: { readonly name: string; readonly options: LocalCopyOptions },
): void {
  if (isInterrupted) {
    process.stderr.write("The copy was interrupted. The same command again goes on where it stopped.\n");
    process.exitCode = EXIT_INTERRUPTED;
    return;
  }
  if (INCOMPLETE.has(exitCode)) {
    throw new UserError(`Some files were not copied to ${name}.`, "The lines above say which, and why.");
  }
  if (exitCode !== 0) {
    const message = `The copy to ${name} is not complete: rsync ended with ${exitCode}.`;
    throw new UserError(message, "The same command again goes on where it stopped.");
  }
  const answer = { success: true, files_copied: filesCopied, size_bytes: sizeBytes, sent_bytes: sentBytes };
  const files = `${filesCopied} ${filesCopied === 1 ? "file" : "files"}`;
  printAnswer(answer, options, () => `Copied ${files} to ${name}: ${bytesText(sentBytes)} of ${bytesText(sizeBytes)}.`);
}
