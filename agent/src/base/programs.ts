import { spawn } from "node:child_process";
import type { Clock } from "./clock.ts";

/** `code` is 127 when there is no such program, and 124 when it took too long. */
export type Ran = { readonly code: number; readonly output: string };

/**
 * Runs a program of the system to its end, or gives it up after `timeoutMs`; `output` is the text of both its streams.
 */
export type RunProgram = (
  program: string,
  args: readonly string[],
  timeoutMs: number,
  /** Text for the program's standard input; empty by default. */
  input?: string,
) => Promise<Ran>;

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const OUTPUT_LIMIT_BYTES = 16_384;

/**
 * Makes the function that runs programs. A program that hangs in the kernel cannot be killed: it is left behind, and
 * its caller goes on.
 */
export function programRunner(clock: Clock): RunProgram {
  return async (program, args, timeoutMs, input) => {
    const child = spawn(program, [...args], { stdio: ["pipe", "pipe", "pipe"], env: { PATH, LC_ALL: "C" } });
    // A program may end without reading its input; its exit code tells the outcome.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const parts: Buffer[] = [];
    let lengthBytes = 0;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (data: Buffer) => {
        if (lengthBytes < OUTPUT_LIMIT_BYTES) parts.push(data);
        lengthBytes += data.length;
      });
    }
    const done = new AbortController();
    const ended = new Promise<Ran>((resolve) => {
      child.once("error", (error) => resolve({ code: 127, output: error.message }));
      child.once("close", (code) => resolve({ code: code ?? 1, output: Buffer.concat(parts).toString("utf8").trim() }));
    });
    const late = clock.sleep(timeoutMs, done.signal).then((): Ran => {
      if (!done.signal.aborted) child.kill("SIGKILL");
      return { code: 124, output: `${program} took longer than ${Math.round(timeoutMs / 1000)} s` };
    });
    const ran = await Promise.race([ended, late]);
    done.abort();
    return ran;
  };
}
