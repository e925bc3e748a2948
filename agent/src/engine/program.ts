import type { Readable } from "node:stream";
import { fail, succeed, type ExecOutput, type ExecRequest, type Program, type Result } from "./engine.ts";

/** Waits for the end of a program that needs no input, and keeps its output up to the limit. */
export async function collectOutput(
  program: Program,
  request: Pick<ExecRequest, "signal" | "outputLimitBytes">,
): Promise<Result<ExecOutput>> {
  const kill = () => program.kill();
  if (request.signal.aborted) kill();
  request.signal.addEventListener("abort", kill, { once: true });
  program.stdin.on("error", () => undefined);
  program.stdin.end();
  const room = { leftBytes: request.outputLimitBytes };
  const read = async (stream: Readable): Promise<Buffer> => {
    const parts: Buffer[] = [];
    stream.on("data", (data: Buffer) => {
      const part = data.subarray(0, room.leftBytes);
      if (part.length > 0) parts.push(Buffer.from(part));
      room.leftBytes -= part.length;
      if (part.length < data.length) kill();
    });
    await settled(stream);
    return Buffer.concat(parts);
  };
  try {
    const [stdout, stderr, ended] = await Promise.all([read(program.stdout), read(program.stderr), program.ended]);
    if (request.signal.aborted) return fail("cancelled", "the program was called off");
    return ended.ok ? succeed({ exitCode: ended.value, stdout, stderr }) : ended;
  } finally {
    request.signal.removeEventListener("abort", kill);
  }
}

/** Resolves when a stream is over, for any reason: the end of its program says the reason. */
function settled(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed || stream.destroyed || stream.readableEnded) return resolve();
    for (const event of ["end", "close", "error"]) stream.once(event, () => resolve());
  });
}
