import { spawn } from "node:child_process";

const TIMEOUT_MS = 30_000;
const OUTPUT_LIMIT = 65_536;

/** Runs a program of the system to its end; its exit code, and what it said on both streams. A hanging one is killed. */
export function runProgram(
  program: string,
  args: readonly string[],
  stdin?: string,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, [...args], {
      stdio: [stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    let output = "";
    const keep = (data: Buffer) => {
      output = (output + data.toString("utf8")).slice(-OUTPUT_LIMIT);
    };
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.once("error", (error) => resolve({ code: 127, output: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 137, output }));
    // A program that ends without reading what it was given says so by its code.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(stdin);
  });
}
