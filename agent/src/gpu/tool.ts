import { spawn } from "node:child_process";
import type { Clock } from "../base/clock.ts";

export type ToolAnswer =
  | { readonly kind: "answer"; readonly exitCode: number; readonly output: string }
  /** The tool gave no answer in time and was killed. */
  | { readonly kind: "silence" }
  | { readonly kind: "missing" };

export type ToolRun = {
  readonly answer: Promise<ToolAnswer>;
  /**
   * When its process is gone. A process that waits for a driver that hangs outlives its kill until the driver lets go: this
   * may never come.
   */
  readonly gone: Promise<void>;
};

/** Runs `nvidia-smi` with a hard limit of time; an aborted signal kills it. */
export type NvidiaSmi = (args: readonly string[], limitMs: number, signal: AbortSignal) => ToolRun;

const OUTPUT_LIMIT = 1_048_576;

/** The tool of this machine, or the program at `path` in its place. */
export function nvidiaSmi(clock: Clock, path = "nvidia-smi"): NvidiaSmi {
  return (args, limitMs, signal) => {
    const child = spawn(path, [...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, LC_ALL: "C" } });
    const kill = () => void child.kill("SIGKILL");
    const timer = new AbortController();
    // Apart, so that a message never breaks into a line of the table.
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (data: Buffer) => {
        if (printed[name].length < OUTPUT_LIMIT) printed[name] += data.toString("utf8");
        else kill();
      });
    }
    signal.addEventListener("abort", kill, { once: true });
    const ended = new Promise<ToolAnswer>((resolve) => {
      child.once("error", () => resolve({ kind: "missing" }));
      child.once("close", (code) => {
        resolve({ kind: "answer", exitCode: code ?? -1, output: `${printed.stdout}\n${printed.stderr}` });
      });
    });
    const expired = clock.sleep(limitMs, timer.signal).then((): ToolAnswer => {
      kill();
      return { kind: "silence" };
    });
    void ended.then(() => {
      timer.abort();
      signal.removeEventListener("abort", kill);
    });
    return { answer: Promise.race([ended, expired]), gone: ended.then(() => undefined) };
  };
}
