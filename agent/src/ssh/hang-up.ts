import { readFile } from "node:fs/promises";
import type { Clock } from "../base/clock.ts";
import type { DockerExec } from "./docker-exec.ts";

/** A program that was started in a container through the engine. */
export type ExecPlace = {
  readonly docker: DockerExec;
  readonly clock: Clock;
  readonly containerId: string;
  readonly execId: string;
};

/** Looks for the process of a program that the engine calls started. */
const PID_ATTEMPTS = 100;
const PID_WAIT_MS = 50;
/** Place of the terminal's foreground group among the fields behind the program's name in /proc/PID/stat. */
const FOREGROUND_FIELD = 5;

/** Sends the signal to the program's process group, as an SSH server does. Nothing happens when it has ended. */
export async function signalProgram(place: ExecPlace, signal: NodeJS.Signals): Promise<void> {
  const pid = await findPid(place);
  if (pid !== undefined) killGroup(pid, signal);
}

/**
 * Does the kernel's work when a terminal is gone, since the engine keeps it open after its user has left: the group in the
 * foreground and the program itself get a hang-up, stopped ones are woken for it. A program that ignores it lives on.
 */
export async function hangUp(place: ExecPlace): Promise<void> {
  const pid = await findPid(place);
  if (pid === undefined) return;
  const groups = new Set([await foregroundGroup(pid), pid]);
  for (const group of groups) {
    if (group === undefined) continue;
    killGroup(group, "SIGHUP");
    killGroup(group, "SIGCONT");
  }
}

/** The process on this host; undefined when it has ended, or is not the container's. */
async function findPid({ docker, clock, containerId, execId }: ExecPlace): Promise<number | undefined> {
  for (let attempt = 0; attempt < PID_ATTEMPTS; attempt += 1) {
    const { exitCode, pid } = await docker.inspect(execId);
    if (exitCode !== null) return undefined;
    if (pid > 1) return (await isInside(pid, containerId)) ? pid : undefined;
    await clock.sleep(PID_WAIT_MS);
  }
  return undefined;
}

/** Numbers of processes are used again, so a process is killed only while it is in the container. */
async function isInside(pid: number, containerId: string): Promise<boolean> {
  const groups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  return groups.includes(containerId);
}

async function foregroundGroup(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name stands in parentheses and may hold any character, those included.
  const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[FOREGROUND_FIELD]);
  return group > 1 ? group : undefined;
}

function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // The process has ended meanwhile, which is as good.
  }
}
