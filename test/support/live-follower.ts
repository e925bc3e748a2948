import assert from "node:assert/strict";

/** One event of a stream as it arrived. */
export type Heard = { readonly id: string | undefined; readonly event: string; readonly data: Record<string, unknown> };

type FollowOptions = {
  readonly secret: string;
  readonly kinds?: string;
  readonly after?: string;
  /** Another stream than that of the account's events. */
  readonly path?: string;
};

/** A client of `GET /api/v0/events/`, or of another stream of events, that reads every byte and keeps what it heard. */
export class LiveFollower {
  readonly heard: Heard[] = [];
  readonly comments: string[] = [];
  /** The place that an EventSource would resume from. */
  lastEventId: string | undefined;
  retryMs: number | undefined;
  isOver = false;
  readonly #abort = new AbortController();
  #done: Promise<void> = Promise.resolve();

  /** Connects to a server, and returns when it has answered. */
  static async connect(
    origin: string,
    { secret, kinds, after, path = "/api/v0/events/" }: FollowOptions,
  ): Promise<LiveFollower> {
    const follower = new LiveFollower();
    const url = new URL(path, origin);
    if (kinds !== undefined) url.searchParams.set("kinds", kinds);
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${secret}`, ...(after === undefined ? {} : { "last-event-id": after }) },
      signal: follower.#abort.signal,
    });
    assert.equal(response.status, 200, response.status === 200 ? "" : await response.text());
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.ok(response.body);
    follower.lastEventId = after;
    follower.#done = follower.#read(response.body);
    return follower;
  }

  /** Ends the connection, and returns when nothing more is heard. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#done;
  }

  /** Events of a kind, as `change id`. */
  changes(kind: string): readonly string[] {
    return this.of(kind).map(({ data }) => `${String(data["change"])} ${String(data["id"])}`);
  }

  of(kind: string): readonly Heard[] {
    return this.heard.filter(({ event }) => event === kind);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body) {
        const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
      }
    } catch {
      // Aborted, or the server is gone: either way nothing more comes.
    }
    this.isOver = true;
  }

  #take(block: string): void {
    let [id, event, data]: (string | undefined)[] = [];
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
      if (name === "") this.comments.push(value);
      else if (name === "id") id = value;
      else if (name === "event") event = value;
      else if (name === "data") data = value;
      else if (name === "retry") this.retryMs = Number(value);
      else assert.fail(`an unknown line: ${line}`);
    }
    this.lastEventId = id ?? this.lastEventId;
    if (event !== undefined && data !== undefined) this.heard.push({ id, event, data: JSON.parse(data) });
  }
}
