import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { Readable, Writable } from "node:stream";
import { Type } from "typebox";
import { Compile } from "typebox/compile";
import type { Clock } from "../base/clock.ts";
import { fail, succeed, type Program, type ProgramUser, type Result } from "../engine/engine.ts";
import type { Call } from "./connection.ts";
import { createFrameReader } from "../engine/frames.ts";
import { readCreatedId } from "./read.ts";

export type ExecContext = {
  readonly clock: Clock;
  call(call: Call): Promise<Result<unknown>>;
  hijack(call: Call): Promise<Result<Socket>>;
};

const inspectedExec = Compile(
  Type.Object({
    Running: Type.Boolean(),
    ExitCode: Type.Union([Type.Integer(), Type.Null()]),
    Pid: Type.Integer(),
    ContainerID: Type.String({ minLength: 1 }),
  }),
);
type InspectedExec = {
  readonly isRunning: boolean;
  readonly exitCode: number;
  readonly pid: number;
  readonly containerId: string;
};

/**
 * Time between two looks at a program: the engine closes the output a moment before it knows the exit code, and knows
 * the process a moment after its start.
 */
const LOOK_EVERY_MS = 20;
const LOOKS = 250;
const KILLED = 137;

/** Runs a program beside the main process, its streams carried by one connection of its own. */
export async function openProgram(
  context: ExecContext,
  id: string,
  { argv, as }: { readonly argv: readonly string[]; readonly as: ProgramUser },
): Promise<Result<Program>> {
  const body = {
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    Tty: false,
    // Without user and folder the engine takes those of the container.
    ...(as === "root" ? { User: "0:0", WorkingDir: "/" } : {}),
    Cmd: argv,
  };
  const made = await context.call({ method: "POST", path: `/containers/${id}/exec`, body });
  if (!made.ok) return made;
  const execId = readCreatedId(made.value);
  if (execId === undefined) return fail("refused", "the engine's answer has an unknown form");
  const start: Call = { method: "POST", path: `/exec/${execId}/start`, body: { Detach: false, Tty: false } };
  const socket = await context.hijack(start);
  return socket.ok ? succeed(programOn(context, execId, socket.value)) : socket;
}

function programOn(context: ExecContext, execId: string, socket: Socket): Program {
  const outputs = { stdout: waitingReadable(), stderr: waitingReadable() };
  const stdin = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      // A program that has ended reads no more; its exit code says what became of it.
      socket.write(chunk, () => done());
    },
    final: (done) => {
      socket.end();
      done();
    },
  });
  let isOver = false;
  let isKilled = false;
  socket.on("error", () => undefined);
  const pump = async (): Promise<Result<number>> => {
    const read = createFrameReader();
    let problem: string | undefined;
    try {
      for await (const chunk of socket) {
        if (!Buffer.isBuffer(chunk)) continue;
        for (const { isStderr, data } of read(chunk)) await outputs[isStderr ? "stderr" : "stdout"].give(data);
      }
    } catch (cause) {
      problem = String(cause);
    }
    for (const output of Object.values(outputs)) output.readable.push(null);
    const result = await untilEnded(context, execId, problem);
    isOver = true;
    socket.destroy();
    stdin.destroy();
    // The engine may have taken a program killed at its start for one that could not be started.
    return isKilled && result.ok ? succeed(KILLED) : result;
  };
  return {
    stdin,
    stdout: outputs.stdout.readable,
    stderr: outputs.stderr.readable,
    ended: pump(),
    kill: () => {
      if (isOver || isKilled) return;
      isKilled = true;
      for (const output of Object.values(outputs)) output.stop();
      void killProcess(context, execId).then(() => socket.destroy());
    },
  };
}

/** A stream whose giver waits while nobody reads. */
function waitingReadable(): { readonly readable: Readable; give(data: Buffer): Promise<void>; stop(): void } {
  let wake: (() => void) | undefined;
  let isStopped = false;
  const goOn = () => {
    wake?.();
    wake = undefined;
  };
  const readable = new Readable({
    read: goOn,
    destroy: (_error, done) => {
      isStopped = true;
      goOn();
      done(null);
    },
  });
  return {
    readable,
    give: async (data) => {
      if (isStopped || readable.push(data)) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    },
    stop: () => {
      isStopped = true;
      goOn();
    },
  };
}

async function untilEnded(context: ExecContext, execId: string, problem: string | undefined): Promise<Result<number>> {
  for (let look = 0; look < LOOKS; look += 1) {
    const one = await inspectExec(context, execId);
    if (!one.ok) return one;
    if (!one.value.isRunning) return succeed(one.value.exitCode);
    await context.clock.sleep(LOOK_EVERY_MS);
  }
  return fail("unreachable", problem ?? "the engine gave up the output of a program that still runs");
}

async function inspectExec(context: ExecContext, execId: string): Promise<Result<InspectedExec>> {
  const answer = await context.call({ method: "GET", path: `/exec/${execId}/json` });
  if (!answer.ok) return answer;
  const { value } = answer;
  if (!inspectedExec.Check(value)) return fail("refused", "the engine's answer has an unknown form");
  const { Running: isRunning, ExitCode, Pid: pid, ContainerID: containerId } = value;
  return succeed({ isRunning, exitCode: ExitCode ?? 0, pid, containerId });
}

/** Kills the process by its number on the host: the engine has no call for it. */
async function killProcess(context: ExecContext, execId: string): Promise<void> {
  for (let look = 0; look < LOOKS; look += 1) {
    const one = await inspectExec(context, execId);
    if (!one.ok) return;
    const { isRunning, pid, containerId } = one.value;
    if (isRunning && pid > 0) {
      if (await isInContainer(pid, containerId)) signalProcess(pid);
      return;
    }
    // With a number and not running it has ended already.
    if (!isRunning && pid > 0) return;
    await context.clock.sleep(LOOK_EVERY_MS);
  }
}

/**
 * True for a process in the container's own control group: only such a process is killed, since the number means
 * another process when the agent does not see the engine's processes, or when it is used again.
 */
async function isInContainer(pid: number, containerId: string): Promise<boolean> {
  const groups = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  return groups.includes(containerId);
}

function signalProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // The program ended by itself in this moment.
  }
}
