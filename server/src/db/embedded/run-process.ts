import { spawn } from "node:child_process";

export type Finished = { readonly code: number | null; readonly output: string };

/**
 * Runs a program to its end with `input` as its standard input; `output` is stdout and stderr together. A program that does not exist is a code of null
 * with the reason as output, so that callers can try something else.
 */
export function runProcess(
  command: readonly string[],
  {
    input = "",
    ...options
  }: { readonly uid?: number; readonly gid?: number; readonly env?: NodeJS.ProcessEnv; readonly input?: string } = {},
): Promise<Finished> {
  const [program = "", ...args] = command;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const child = spawn(program, args, { cwd: "/", stdio: ["pipe", "pipe", "pipe"], ...options });
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stdin.on("error", () => {}); // It ended before it had read everything; its exit says how.
    child.stdin.end(input);
    child.on("error", (error) => resolve({ code: null, output: error.message }));
    child.on("close", (code) => resolve({ code, output: Buffer.concat(chunks).toString("utf8") }));
  });
}
