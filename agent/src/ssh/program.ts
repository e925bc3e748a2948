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
  readonly container_id: string;
  readonly transport: Transport;
};

export type RunOptions = {
  /** Aborts when the client no longer wants it. */
  readonly over: AbortSignal;
  readonly onStart?: (exec_id: string) => void;
  /** Gets to know, before the end, why the engine did not run it. */
  readonly onFailure?: (reason: string) => Promise<unknown>;
};

/** Between two looks whether a program whose output has ended has ended itself. */
const FIRST_LOOK_MS = 2;
const LAST_LOOK_MS = 500;
/** What clients read as "the connection failed", and no program means. */
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
  const { docker, container_id } = place;
  let exec_id: string;
  let stream: Socket;
  try {
    exec_id = await docker.create(container_id, spec);
    if (over.aborted) return undefined;
    stream = await docker.start(exec_id, spec.has_tty);
  } catch (cause) {
    await onFailure?.(textOf(cause));
    return FAILED;
  }
  const leave = () => stream.destroy();
  try {
    if (over.aborted) throw new Error("the client has left");
    over.addEventListener("abort", leave, { once: true });
    onStart?.(exec_id);
    // The end of the client's input would end a terminal with all that is still to be printed.
    channel.pipe(stream, { end: !spec.has_tty });
    await pump(place.transport, channel, stream, spec.has_tty, over);
    return await exitCode(place, exec_id, over);
  } catch (cause) {
    if (!over.aborted) await onFailure?.(textOf(cause));
    return FAILED;
  } finally {
    over.removeEventListener("abort", leave);
    channel.unpipe(stream);
    stream.destroy();
    // Input that nobody wants any more must not hold up the end of the channel.
    channel.resume();
    if (over.aborted) await hangUp({ ...place, exec_id }).catch(() => undefined);
  }
}

/** Hands on what the program writes until it has ended or the client has. */
async function pump(
  transport: Transport,
  channel: ServerChannel,
  stream: Socket,
  has_tty: boolean,
  over: AbortSignal,
): Promise<void> {
  // Its end is also the end of the loop; that the program did not want its input is its own affair.
  stream.on("error", () => undefined);
  const read = has_tty ? plain : createFrameReader();
  try {
    for await (const chunk of stream) {
      for (const piece of read(chunk)) if (!(await deliver(transport, channel, piece, over))) return;
    }
  } catch {
    // The engine has closed the stream in the middle, or we have: either way there is no more to read.
  }
}

function* plain(data: Buffer): Generator<Frame> {
  yield { is_stderr: false, data };
}

async function exitCode(place: ProgramPlace, exec_id: string, over: AbortSignal): Promise<number | undefined> {
  for (let wait_ms = FIRST_LOOK_MS; !over.aborted; wait_ms = Math.min(wait_ms * 2, LAST_LOOK_MS)) {
    const state = await place.docker.inspect(exec_id);
    if (!state.is_running) return state.exit_code ?? FAILED;
    await place.clock.sleep(wait_ms, over);
  }
  return undefined;
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
