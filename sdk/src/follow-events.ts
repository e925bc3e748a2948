// Events of an account as they happen (docs/events.md), over any number of connections.
import { ApiError, type Client } from "./client.ts";
import { readEvents } from "./event-stream.ts";
import { systemTimer, type Timer } from "./timer.ts";

const PATH = "/api/v0/events/";
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

export type LiveEvent = {
  /** `instance`, `balance` and so on; `ready` once everything missed was told, `reset` when everything has to be read again. */
  readonly event: string;
  /** The place to resume from, for `lastEventId`; that of the last event which had one. */
  readonly lastEventId: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
};

export type FollowOptions = {
  readonly signal?: AbortSignal;
  /** The place behind which to begin; from now on without it. */
  readonly lastEventId?: string;
  /** The kinds to hear of; all that the key may see without it. */
  readonly kinds?: readonly string[];
  readonly timer?: Timer;
  /** Told when a connection ended, and how long it is until the next attempt. */
  readonly onPause?: (reason: Error | undefined, waitMs: number) => void;
};

/**
 * Yields events until the signal aborts, in browsers and in Node. It connects again after each end of a connection, and
 * resumes there. Throws `ApiError` when the server refuses, such as for a key that was deleted.
 */
export async function* followEvents(client: Client, options: FollowOptions = {}): AsyncGenerator<LiveEvent, void> {
  const { signal, kinds, timer = systemTimer, onPause } = options;
  let { lastEventId } = options;
  let retryMs = RETRY_MS;
  let failures = 0;
  const isOver = () => signal?.aborted ?? false;
  while (!isOver()) {
    let reason: Error | undefined;
    try {
      const query = { ...(kinds === undefined ? {} : { kinds: kinds.join(",") }), last_event_id: lastEventId };
      const body = await client.stream({ method: "GET", path: PATH, query }, signal === undefined ? {} : { signal });
      for await (const block of readEvents(body)) {
        failures = 0;
        lastEventId = block.id ?? lastEventId;
        retryMs = block.retryMs ?? retryMs;
        if (block.data !== undefined) {
          yield { event: block.event ?? "message", lastEventId, data: JSON.parse(block.data) };
        }
      }
    } catch (error) {
      if (isOver()) return;
      if (error instanceof ApiError && !isPassing(error)) throw error;
      if (!(error instanceof Error)) throw error;
      reason = error;
    }
    const waitMs = Math.min(retryMs * 2 ** Math.max(0, failures - 1), RETRY_MS_MAX);
    failures += 1;
    onPause?.(reason, waitMs);
    await timer.sleep(waitMs, signal);
  }
}

function isPassing({ status }: ApiError): boolean {
  return status === 429 || status >= 500;
}
