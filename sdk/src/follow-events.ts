// Events of an account as they happen (docs/events.md), over any number of connections.
import type { Client } from "./client.ts";
import { resumeStream, type StreamEvent, type StreamOptions } from "./resumed-stream.ts";

const PATH = "/api/v0/events/";

/** `event` is `instance`, `balance` and so on; `ready` once everything missed was told, `reset` when everything has to be read again. */
export type LiveEvent = StreamEvent;

export type FollowOptions = StreamOptions & {
  /** The kinds to hear of; all that the key may see without it. */
  readonly kinds?: readonly string[];
};

/**
 * Yields events until the signal aborts, in browsers and in Node. It connects again after each end of a connection, and
 * resumes there. Throws `ApiError` when the server refuses, such as for a key that was deleted.
 */
export async function* followEvents(client: Client, options: FollowOptions = {}): AsyncGenerator<LiveEvent, void> {
  const { kinds } = options;
  yield* resumeStream(client, { path: PATH, query: kinds === undefined ? {} : { kinds: kinds.join(",") } }, options);
}
