import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { systemTimer, type Timer } from "../../../sdk/src/timer.ts";
import { UserError } from "../failure.ts";

/** A login by ssh, as the copy will make it. */
export type Login = { readonly user: string; readonly host: string; readonly sshOptions: readonly string[] };

const ATTEMPTS = 40;
const WAIT_MS = 500;
/** The end of all attempts together; a host hears of a key within some seconds. */
const LIMIT_MS = 60_000;
/** Exit code of ssh itself, as opposed to that of a command. */
const SSH_FAILED = 255;
const ADVICE = "Its host may be busy, or its agent older than copies from and to a computer: try again in a moment.";

const execute = promisify(execFile);

/**
 * Tries the login until the host has heard of a new key, each time by a connection of its own; also returns when `over`
 * aborts. The user of copies gets no command: its refusal is a login. Throws `UserError` after all attempts, or a minute.
 */
export async function untilLetIn(login: Login, over: AbortSignal, timer: Timer = systemTimer): Promise<void> {
  const [isLetIn, isLate] = [new AbortController(), new AbortController()];
  void timer.sleep(LIMIT_MS, isLetIn.signal).then(() => isLate.abort());
  const signal = AbortSignal.any([over, isLate.signal]);
  let said = "ssh has no answer.";
  try {
    for (let attempt = 0; attempt < ATTEMPTS && !signal.aborted; attempt += 1) {
      const refusal = await tryOnce(login, signal);
      if (refusal === undefined) return;
      said = refusal || said;
      await timer.sleep(WAIT_MS, signal);
    }
  } finally {
    isLetIn.abort();
  }
  if (!over.aborted) throw new UserError(`The instance lets nobody in: ${said.replace(/\p{Cc}/gu, " ")}`, ADVICE);
}

/** The words of ssh when it did not get in, empty if the signal ended it; undefined when it did. */
async function tryOnce({ user, host, sshOptions }: Login, signal: AbortSignal): Promise<string | undefined> {
  try {
    await execute("ssh", [...sshOptions, "-T", "-l", user, "--", host, "true"], { signal });
  } catch (error) {
    if (signal.aborted) return "";
    if (!(error instanceof Error) || !("code" in error) || error.code !== SSH_FAILED) return undefined;
    return "stderr" in error ? String(error.stderr).trim() : error.message;
  }
  return undefined;
}
