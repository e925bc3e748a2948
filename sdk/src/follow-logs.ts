// The log of an instance as it is written (docs/rent.md#look-inside), over any number of connections.
import type { Client } from "./client.ts";
import { resumeStream, type StreamOptions } from "./resumed-stream.ts";

export type LogEvent =
  | {
      readonly event: "log";
      readonly lastEventId: string | undefined;
      readonly stream: "stdout" | "stderr";
      /** Seconds since 1970. */
      readonly at: number;
      /** A line with its end; a very long one comes in several pieces. */
      readonly text: string;
    }
  /** Lines before the next one are not in the log any more. */
  | { readonly event: "gap"; readonly reason: string };

export type FollowLogsOptions = StreamOptions & {
  /** How many of the newest lines to begin with; 1,000 without it. */
  readonly tail?: number;
};

/**
 * Yields the log until the container does not run any more or the signal aborts. It connects again after each end of a
 * connection, and goes on behind what it has. Throws `ApiError` when the server refuses: `cannot_follow_logs` for a host
 * with an older agent.
 */
export async function* followLogs(
  client: Client,
  id: number,
  { tail, ...options }: FollowLogsOptions = {},
): AsyncGenerator<LogEvent, void> {
  const stream = {
    path: `/api/v0/instances/${id}/logs/`,
    query: tail === undefined ? {} : { tail },
    isPassing: ({ code }: { readonly code: string }) => code === "host_offline",
  };
  for await (const { event, data, lastEventId } of resumeStream(client, stream, options)) {
    if (event === "end") return;
    if (event === "gap") yield { event, reason: String(data["reason"]) };
    if (event !== "log") continue;
    const source = data["stream"] === "stderr" ? "stderr" : "stdout";
    yield { event, lastEventId, stream: source, at: Number(data["at"]), text: String(data["text"]) };
  }
}
