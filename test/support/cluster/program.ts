// Programs of the operating system that tests run on loopback ports, in folders of their own.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { chmod, chown, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { tmpdir } from "node:os";
import path from "node:path";

const OUTPUT_MAX = 200_000;

export type Program = {
  readonly pid: number;
  /** The end of its output. */
  output(): string;
  isRunning(): boolean;
  readonly ended: Promise<unknown>;
  /** Sends the signal and waits for the end. Safe when it has ended already. */
  end(signal?: NodeJS.Signals): Promise<void>;
};

/** The account under which programs run that refuse root; undefined where these tests do not run as root. */
export type ServiceAccount = { readonly uid: number; readonly gid: number } | undefined;

/** The account that Debian's packages of PostgreSQL make. */
export function postgresAccount(): ServiceAccount {
  if (process.getuid?.() !== 0) return undefined;
  const idOf = (option: string) => Number(spawnSync("id", [option, "postgres"], { encoding: "utf8" }).stdout);
  return { uid: idOf("-u"), gid: idOf("-g") };
}

export function startProgram(
  program: string,
  args: readonly string[],
  {
    account,
    env,
    cwd,
  }: { readonly account?: ServiceAccount; readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): Program {
  const child: ChildProcess = spawn(program, [...args], {
    ...(account === undefined ? {} : account),
    cwd: cwd ?? "/",
    env: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LANG: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const keep = (chunk: Buffer) => (text = (text + chunk.toString("utf8")).slice(-OUTPUT_MAX));
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  child.on("error", (error) => (text += String(error)));
  const isRunning = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const ended = once(child, "exit").catch(() => undefined);
  return {
    pid: child.pid ?? 0,
    ended,
    output: () => text,
    isRunning,
    async end(signal = "SIGTERM") {
      if (!isRunning()) return;
      child.kill(signal);
      await ended;
    },
  };
}

/** A folder that this account owns, for data and configuration. */
export async function serviceFolder(name: string, account: ServiceAccount): Promise<string> {
  const folder = await mkdtemp(path.join(await realpath(tmpdir()), `berth-${name}-`));
  await chmod(folder, 0o700);
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  return folder;
}

export async function removeFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/**
 * Writes a file of `deploy/` with the values of this run in place of those for production. Each text to replace must be
 * there, so that a changed file cannot leave a test with the wrong one.
 */
export async function writeDeployed(
  source: string,
  target: string,
  { replacing, account }: { readonly replacing: Readonly<Record<string, string>>; readonly account?: ServiceAccount },
): Promise<void> {
  let text = await readFile(path.join(import.meta.dirname, "../../../deploy", source), "utf8");
  for (const [before, now] of Object.entries(replacing)) {
    if (!text.includes(before)) throw new Error(`deploy/${source} does not say: ${before}`);
    text = text.replaceAll(before, now);
  }
  await writeFile(target, text);
  if (account !== undefined) await chown(target, account.uid, account.gid);
}
