import type { Clock } from "../base/clock.ts";
import type { EngineEvent, Result } from "../engine/engine.ts";
import type { DockerConnection } from "./connection.ts";
import { JsonLines } from "./json-lines.ts";
import { readEvent } from "./read.ts";

const RETRY_MS = 1_000;
/** Actions that change a report; others, such as `exec_start`, do not. */
const ACTIONS: ReadonlySet<string> = new Set(["create", "start", "die", "destroy", "rename", "pause", "unpause"]);

/** Follows the engine's events for containers with the label. Each new connection begins with a `resync` and ends with a `lost`. */
export function watchEvents(input: {
  readonly connect: () => Promise<Result<DockerConnection>>;
  readonly clock: Clock;
  readonly label: string;
  readonly value: string;
  readonly listener: (event: EngineEvent) => void;
}): () => void {
  const abort = new AbortController();
  void follow(input, abort.signal);
  return () => abort.abort();
}

async function follow(input: Parameters<typeof watchEvents>[0], signal: AbortSignal): Promise<void> {
  const filters = JSON.stringify({ type: ["container"], label: [`${input.label}=${input.value}`] });
  const lines = () =>
    new JsonLines((value) => {
      const event = readEvent(value);
      if (event && ACTIONS.has(event.action)) input.listener({ kind: "container", id: event.id });
    });
  while (!signal.aborted) {
    const connection = await input.connect();
    const opened = connection.ok
      ? await connection.value.stream({ method: "GET", path: "/events", query: { filters }, signal })
      : connection;
    if (opened.ok) {
      input.listener({ kind: "resync" });
      const open = lines();
      try {
        opened.value.setEncoding("utf8");
        for await (const text of opened.value) open.push(String(text));
      } catch {
        // The connection broke or was called off; either way the loop decides what is next, and a resync follows.
      }
      if (!signal.aborted) input.listener({ kind: "lost" });
    }
    await input.clock.sleep(RETRY_MS, signal);
  }
}
