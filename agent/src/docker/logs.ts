import { succeed, fail, type LogRequest, type Result } from "../engine/engine.ts";
import { LineTail } from "../base/line-tail.ts";
import type { DockerConnection } from "./connection.ts";
import { createFrameReader } from "../engine/frames.ts";

/** Reads the output of a container's main process line by line, so that memory holds only the lines that are kept. */
export async function readLogs(connection: DockerConnection, id: string, request: LogRequest): Promise<Result<string>> {
  const tail = request.filter === "" ? String(request.tailLines) : "all";
  const query = { stdout: "true", stderr: "true", tail };
  const opened = await connection.stream({ method: "GET", path: `/containers/${id}/logs`, query });
  if (!opened.ok) return opened;
  const lines = new LineTail(request);
  const read = createFrameReader();
  try {
    for await (const chunk of opened.value) {
      if (!Buffer.isBuffer(chunk)) continue;
      for (const { isStderr, data } of read(chunk)) lines.push(isStderr ? "stderr" : "stdout", data);
    }
  } catch (cause) {
    return fail("unreachable", `the log was cut off: ${String(cause)}`);
  }
  return succeed(lines.text());
}
