/** One block of server-sent events: an event when it has data, otherwise a place or a pause to note. */
export type EventBlock = {
  readonly id?: string;
  readonly event?: string;
  readonly data?: string;
  readonly retryMs?: number;
};

/** Characters of an unfinished block: an end that never comes is no event. */
const BLOCK_MAX = 1_048_576;

/** Reads blocks of a `text/event-stream` as they arrive. An unfinished last block is left out. */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<EventBlock, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split("\n\n");
      rest = blocks.pop() ?? "";
      if (rest.length > BLOCK_MAX) throw new Error("an event of the server is too large");
      for (const block of blocks) yield parseBlock(block);
    }
  } finally {
    // Also when the caller stops reading: the connection ends.
    await reader.cancel().catch(() => {});
  }
}

function parseBlock(text: string): EventBlock {
  const fields = new Map<string, string>();
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }
  const [id, event, data, retry] = ["id", "event", "data", "retry"].map((name) => fields.get(name));
  return {
    ...(id === undefined ? {} : { id }),
    ...(event === undefined ? {} : { event }),
    ...(data === undefined ? {} : { data }),
    ...(retry === undefined || !/^\d+$/.test(retry) ? {} : { retryMs: Number(retry) }),
  };
}
