import type { WebSocket } from "ws";
import type { TransferMessage, TransferSide } from "../../../../../../protocol/index.ts";
import type { Clock } from "../../../../base/clock.ts";

/** How long one side waits for the other. It tries again after that, until its task is over. */
const WAIT_MS = 30_000;
/** Two sides that both stay silent for this long have lost each other. */
const SILENCE_MS = 120_000;
/** Bytes that may wait for a slow reader before the writer is paused, and the rest at which it goes on. */
const BUFFERED_BYTES_MAX = 1_048_576;
const BUFFERED_BYTES_LOW = 262_144;
const TRANSFERS_MAX = 256;

/** Close codes: the other side did not come, the other side is gone. */
const ALONE = 4408;
const BROKEN = 4410;

type Pair = { readonly sockets: Map<TransferSide, WebSocket>; end: (() => void) | undefined };

/**
 * Joins the two hosts of a copy: bytes of one go to the other, unread and no faster than they are taken. The end of a
 * connection decides nothing; the hosts come again with the same id while their tasks are open.
 */
export class Transfers {
  readonly #pairs = new Map<string, Pair>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** False when the server carries as many copies as it may. */
  hasRoomFor(id: string): boolean {
    return this.#pairs.has(id) || this.#pairs.size < TRANSFERS_MAX;
  }

  /**
   * Takes a side of a copy; the caller has checked that it may come. A newer connection replaces an older one of that
   * side, which must be dead.
   */
  arrive(id: string, side: TransferSide, socket: WebSocket): void {
    const earlier = this.#pairs.get(id);
    if (earlier !== undefined && (earlier.end !== undefined || earlier.sockets.has(side))) this.#break(id, earlier);
    const pair = this.#pairs.get(id) ?? { sockets: new Map<TransferSide, WebSocket>(), end: undefined };
    this.#pairs.set(id, pair);
    pair.sockets.set(side, socket);
    socket.once("close", () => this.#break(id, pair));
    const [send, receive] = [pair.sockets.get("send"), pair.sockets.get("receive")];
    if (send !== undefined && receive !== undefined) {
      pair.end = join(send, receive, this.#clock);
      return;
    }
    const over = new AbortController();
    socket.once("close", () => over.abort());
    void this.#clock.sleep(WAIT_MS, over.signal).then(() => {
      if (pair.end === undefined) socket.close(ALONE, "the other host did not come");
    });
    // An agent never sends before it is told that the other side listens; anything else is no agent of ours.
    socket.once("message", () => {
      if (pair.end === undefined) socket.terminate();
    });
  }

  close(): void {
    for (const [id, pair] of this.#pairs) this.#break(id, pair);
  }

  /** Ends both connections; bytes that one side sent before reach the other first. */
  #break(id: string, pair: Pair): void {
    if (this.#pairs.get(id) === pair) this.#pairs.delete(id);
    pair.end?.();
    for (const socket of pair.sockets.values()) socket.close(BROKEN, "the other host is gone");
  }
}

/** Passes bytes both ways until the returned function is called. */
function join(send: WebSocket, receive: WebSocket, clock: Clock): () => void {
  let hasMoved = true;
  const onMove = () => {
    hasMoved = true;
  };
  pass(send, receive, onMove);
  pass(receive, send, onMove);
  const stopWatching = clock.every(SILENCE_MS, () => {
    if (!hasMoved) for (const socket of [send, receive]) socket.terminate();
    hasMoved = false;
  });
  const joined: TransferMessage = { kind: "transfer_joined" };
  for (const socket of [send, receive]) socket.send(JSON.stringify(joined), () => {});
  return () => {
    stopWatching();
    // A paused socket would not notice that the copy is over.
    for (const socket of [send, receive]) socket.resume();
  };
}

/** Passes bytes from one side to the other and pauses the sender while the receiver is slow. */
export function pass(from: WebSocket, to: WebSocket, onMove: () => void): void {
  const resumeWhenDrained = () => {
    if (from.isPaused && to.bufferedAmount <= BUFFERED_BYTES_LOW) from.resume();
  };
  from.on("message", (data, isBinary) => {
    onMove();
    if (to.readyState !== to.OPEN) return;
    to.send(data, { binary: isBinary }, resumeWhenDrained);
    if (to.bufferedAmount > BUFFERED_BYTES_MAX) from.pause();
  });
}
