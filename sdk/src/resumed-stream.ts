// Server-sent events over any number of connections, each of which begins where the last one ended.
import { ApiError, type Client } from "./client.ts";
import { readEvents } from "./event-stream.ts";
import { systemTimer, type Timer } from "./timer.ts";

const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

export type StreamOptions = {
  readonly signal?: AbortSignal;
  /** The place behind which to begin. */
  readonly lastEventId?: string;
  readonly timer?: Timer;
  /** Told when a connection ended, and how long it is until the next attempt. */
  readonly onPause?: (reason: Error | undefined, waitMs: number) => void;
};

export type StreamEvent = {
  readonly event: string;
  /** The id of the last event that had one. */
  readonly lastEventId: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
};

type Stream = {
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  /** True for a refusal that may pass, once events came before. */
  readonly isPassing?: (error: ApiError) => boolean;
};

/** Yields events until the signal aborts or the caller stops. Throws `ApiError` when the server refuses for good. */
export async function* resumeStream(
  client: Client,
  { path, query = {}, isPassing = () => false }: Stream,
  options: StreamOptions,
): AsyncGenerator<StreamEvent, void> {
  const { signal, timer = systemTimer, onPause } = options;
  let { lastEventId } = options;
  let retryMs = RETRY_MS;
  let failures = 0;
  let hasBegun = false;
  const isOver = () => signal?.aborted ?? false;
  while (!isOver()) {
    let reason: Error | undefined;
    try {
      const call = { method: "GET", path, query: { ...query, last_event_id: lastEventId } } as const;
      const body = await client.stream(call, signal === undefined ? {} : { signal });
      hasBegun = true;
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
      if (error instanceof ApiError && !isTransient(error) && !(hasBegun && isPassing(error))) throw error;
      if (!(error instanceof Error)) throw error;
      reason = error;
    }
    const waitMs = Math.min(retryMs * 2 ** Math.max(0, failures - 1), RETRY_MS_MAX);
    failures += 1;
    onPause?.(reason, waitMs);
    await timer.sleep(waitMs, signal);
  }
}

function isTransient({ status }: ApiError): boolean {
  return status === 429 || status >= 500;
}
