import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { fail, succeed, type PullProgress, type PullRequest, type Result } from "../engine.ts";
import { parseImageReference } from "../image-reference.ts";
import type { DockerConnection } from "./connection.ts";
import { JsonLines } from "./json-lines.ts";

const line = Compile(
  Type.Object({
    id: Type.Optional(Type.String()),
    error: Type.Optional(Type.String()),
    progressDetail: Type.Optional(
      Type.Object({ current: Type.Optional(Type.Number()), total: Type.Optional(Type.Number()) }),
    ),
  }),
);

/**
 * Adds up the progress of the layers. Unpacking reports the same layer again from zero with the same total, so a
 * layer's figure is the highest seen.
 */
export class LayerProgress {
  readonly #layers = new Map<string, { current: number; total: number }>();

  note(id: string, current: number, total: number): void {
    const before = this.#layers.get(id) ?? { current: 0, total: 0 };
    this.#layers.set(id, { current: Math.max(before.current, current), total: Math.max(before.total, total) });
  }

  sum(): PullProgress {
    let received_bytes = 0;
    let total_bytes = 0;
    for (const { current, total } of this.#layers.values()) {
      received_bytes += current;
      total_bytes += total;
    }
    return { received_bytes, total_bytes };
  }
}

/** Pulls one image. Aborting the signal closes the connection, which makes the daemon give up the pull. */
export async function pullImage(connection: DockerConnection, request: PullRequest): Promise<Result<void>> {
  const { repository, tag } = parseImageReference(request.image);
  const opened = await connection.stream({
    method: "POST",
    path: "/images/create",
    query: { fromImage: repository, tag },
    auth: request.auth,
    signal: request.signal,
  });
  if (!opened.ok) return opened;
  const layers = new LayerProgress();
  let problem: string | undefined;
  const lines = new JsonLines((value) => {
    if (!line.Check(value)) return;
    if (value.error !== undefined) problem = value.error;
    const { current, total } = value.progressDetail ?? {};
    if (value.id === undefined || current === undefined || total === undefined) return;
    layers.note(value.id, current, total);
    request.onProgress(layers.sum());
  });
  try {
    opened.value.setEncoding("utf8");
    for await (const text of opened.value) lines.push(String(text));
    lines.end();
  } catch (cause) {
    if (request.signal.aborted) return fail("cancelled", "the pull was called off");
    return fail("unreachable", `the pull of ${request.image} was cut off: ${String(cause)}`);
  }
  if (request.signal.aborted) return fail("cancelled", "the pull was called off");
  return problem === undefined ? succeed(undefined) : fail("refused", problem);
}
