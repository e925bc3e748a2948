import { spawn } from "node:child_process";

/** Becomes a Node program: one process, so that signals and exit codes need no middleman. Does not return. */
export async function become(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const whole = [...process.execArgv, ...argv];
  if (process.execve !== undefined) process.execve(process.execPath, [process.execPath, ...whole], environment);
  process.exitCode = await runAsChild(whole, environment);
}

/** Starts a child process, for systems on which a process cannot replace itself. */
function runAsChild(argv: readonly string[], environment: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...argv], { env: environment, stdio: "inherit" });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.on("error", reject);
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
