import type { Socket } from "node:net";
import type { ServerChannel } from "ssh2";
import type { Clock } from "../base/clock.ts";
import type { DockerExec, ExecSpec } from "./docker-exec.ts";
import { createFrameReader, type Frame } from "../engine/frames.ts";
import { hangUp } from "./hang-up.ts";
import { deliver, type Transport } from "./transport.ts";

export type ProgramPlace = {
  readonly docker: DockerExec;
  readonly clock: Clock;
  readonly containerId: string;
  readonly transport: Transport;
};

export type RunOptions = {
  /** Aborts when the client no longer wants it. */
  readonly over: AbortSignal;
  readonly onStart?: (execId: string) => void;
  /** Hears, before the end, the reason why the engine did not run the program. */
  readonly onFailure?: (reason: string) => Promise<unknown>;
};

/** Time between two looks at a program whose output has ended, until the program has ended too. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 500;
/** The exit code that clients read as "the connection failed", and that no program uses. */
const FAILED = 255;

/**
 * Runs a program in the container with the channel as its terminal, or as its input and output, to the end of one of
 * them. Returns its exit code, undefined when the client left first; the program then gets a hang-up.
 */
export async function runProgram(
  place: ProgramPlace,
  channel: ServerChannel,
  spec: ExecSpec,
  { over, onStart, onFailure }: RunOptions,
): Promise<number | undefined> {
  const { docker, containerId } = place;
  let execId: string;
  let stream: Socket;
  try {
    execId = await docker.create(containerId, spec);
    if (over.aborted) return undefined;
    stream = await docker.start(execId, spec.hasTty);
  } catch (cause) {
    await onFailure?.(textOf(cause));
    return FAILED;
  }
  const leave = () => stream.destroy();
  try {
    if (over.aborted) throw new Error("the client has left");
    over.addEventListener("abort", leave, { once: true });
    onStart?.(execId);
    // The end of the client's input would end a terminal with all that is still to be printed.
    channel.pipe(stream, { end: !spec.hasTty });
    await pump(place.transport, channel, stream, spec.hasTty, over);
    return await exitCode(place, execId, over);
  } catch (cause) {
    if (!over.aborted) await onFailure?.(textOf(cause));
    return FAILED;
  } finally {
    over.removeEventListener("abort", leave);
    channel.unpipe(stream);
    stream.destroy();
    // Input that nobody wants any more must not hold up the end of the channel.
    channel.resume();
    if (over.aborted) await hangUp({ ...place, execId }).catch(() => undefined);
  }
}

/** Hands on what the program writes until it has ended or the client has. */
async function pump(
  transport: Transport,
  channel: ServerChannel,
  stream: Socket,
  hasTty: boolean,
  over: AbortSignal,
): Promise<void> {
  // The end of the stream ends the loop too; a program may refuse its input.
  stream.on("error", () => undefined);
  const read = hasTty ? plain : createFrameReader();
  try {
    for await (const chunk of stream) {
      for (const piece of read(chunk)) if (!(await deliver(transport, channel, piece, over))) return;
    }
  } catch {
    // The engine or this process has closed the stream: there is no more to read.
  }
}

function* plain(data: Buffer): Generator<Frame> {
  yield { isStderr: false, data };
}

async function exitCode(place: ProgramPlace, execId: string, over: AbortSignal): Promise<number | undefined> {
  for (let waitMs = FIRST_LOOK_MS; !over.aborted; waitMs = Math.min(waitMs * 2, LAST_LOOK_MS)) {
    const state = await place.docker.inspect(execId);
    if (!state.isRunning) return state.exitCode ?? FAILED;
    await place.clock.sleep(waitMs, over);
  }
  return undefined;
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
