import type { IncomingMessage } from "node:http";
import { Type, type Static } from "typebox";
import { Compile } from "typebox/compile";
import {
  fail,
  succeed,
  type EngineFailure,
  type EngineFailureKind,
  type PullProgress,
  type PullRequest,
  type Result,
} from "../engine/engine.ts";
import { parseImageReference } from "../images/image-reference.ts";
import type { DockerConnection } from "./connection.ts";
import { JsonLines } from "./json-lines.ts";

const Line = Type.Object({
  id: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  errorDetail: Type.Optional(Type.Object({ code: Type.Optional(Type.Integer()) })),
  progressDetail: Type.Optional(
    Type.Object({ current: Type.Optional(Type.Number()), total: Type.Optional(Type.Number()) }),
  ),
});
const line = Compile(Line);

/**
 * Adds up the progress of the layers. Unpacking reports the same layer again from zero with the same total, so a
 * layer's figure is the highest seen.
 */
export class LayerProgress {
  readonly #layers = new Map<string, { current: number; total: number }>();

  note(id: string, current: number, total: number): void {
    const before = this.#layers.get(id) ?? { current: 0, total: 0 };
    const highest = Math.max(before.total, total);
    // Sizes told for a push are estimates, and a layer may turn out larger than its own.
    this.#layers.set(id, { current: Math.min(highest, Math.max(before.current, current)), total: highest });
  }

  sum(): PullProgress {
    let receivedBytes = 0;
    let totalBytes = 0;
    for (const { current, total } of this.#layers.values()) {
      receivedBytes += current;
      totalBytes += total;
    }
    return { receivedBytes, totalBytes };
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
  return opened.ok ? follow("pull", opened.value, request) : refine(opened);
}

/** Sends one image of this host to the registry in its name; aborting as for a pull. */
export async function pushImage(connection: DockerConnection, request: PullRequest): Promise<Result<void>> {
  const { repository, tag } = parseImageReference(request.image);
  const opened = await connection.stream({
    method: "POST",
    path: `/images/${repository.split("/").map(encodeURIComponent).join("/")}/push`,
    query: { tag },
    // The engine requires credentials for a push, so a push without any has empty ones.
    auth: request.auth ?? { username: "", password: "", serveraddress: "" },
    signal: request.signal,
  });
  return opened.ok ? follow("push", opened.value, request) : refine(opened);
}

async function follow(what: "pull" | "push", body: IncomingMessage, request: PullRequest): Promise<Result<void>> {
  const layers = new LayerProgress();
  let problem: EngineFailure | undefined;
  const lines = new JsonLines((value) => {
    if (!line.Check(value)) return;
    if (value.error !== undefined) problem = { kind: kindOfLine(value), message: value.error };
    const { current, total } = value.progressDetail ?? {};
    if (value.id === undefined || current === undefined || total === undefined) return;
    layers.note(value.id, current, total);
    request.onProgress(layers.sum());
  });
  try {
    body.setEncoding("utf8");
    for await (const text of body) lines.push(String(text));
    lines.end();
  } catch (cause) {
    if (request.signal.aborted) return fail("cancelled", `the ${what} was called off`);
    return fail("unreachable", `the ${what} of ${request.image} was cut off: ${String(cause)}`);
  }
  if (request.signal.aborted) return fail("cancelled", `the ${what} was called off`);
  return problem === undefined ? succeed(undefined) : refine({ ok: false, failure: problem });
}

function kindOfLine(value: Static<typeof Line>): EngineFailureKind {
  const code = value.errorDetail?.code;
  if (code === 401 || code === 403) return "denied";
  return code === 404 ? "not_found" : "refused";
}

/**
 * A registry's answer reaches the agent through the engine as a sentence, with a status that says the same for an
 * image that is not there and for one that is not shown. The kind read from it chooses the sentence for the renter and
 * nothing else.
 */
function refine(result: { readonly ok: false; readonly failure: EngineFailure }): Result<never> {
  const { kind, message } = result.failure;
  if (kind !== "refused" && kind !== "not_found") return result;
  if (/\bdenied\b|unauthorized|authentication required|no basic auth|incorrect username|HTTP 40[13]\b/i.test(message)) {
    return fail("denied", message);
  }
  return /manifest unknown|name unknown|does not exist|not found/i.test(message) ? fail("not_found", message) : result;
}
