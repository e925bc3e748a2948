import type { WebSocket } from "ws";
import type { Log } from "../base/log.ts";
import type { LogNotes, Result } from "../engine/engine.ts";
import { writeLogNote } from "../wire/messages.ts";

const NOWHERE = 4404;
const BROKEN = 4500;

/** Opens the log that a tunnel asks for; reading ends with the signal. */
export type OpenLog = (signal: AbortSignal) => Promise<Result<LogNotes>>;

/** Sends a log up a tunnel, no faster than the control plane reads it, until either of them ends. */
export function sendLog(tunnel: WebSocket, open: OpenLog, log: Log): void {
  const over = new AbortController();
  tunnel.once("close", () => over.abort());
  tunnel.once("open", () => {
    void pump(tunnel, open, over.signal).catch((cause: unknown) => {
      if (!over.signal.aborted) log.debug({ problem: String(cause) }, "following a log failed");
      tunnel.close(BROKEN, "the log cannot be read");
    });
  });
}

async function pump(tunnel: WebSocket, open: OpenLog, signal: AbortSignal): Promise<void> {
  const opened = await open(signal);
  if (!opened.ok) return tunnel.close(NOWHERE, "there is no log");
  for await (const notes of opened.value) {
    await send(tunnel, notes.map((note) => `${writeLogNote(note)}\n`).join(""));
  }
  tunnel.close(1000);
}

/** Resolves when the bytes have left this process, so that a slow reader holds up the log and fills no memory. */
function send(tunnel: WebSocket, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    tunnel.send(Buffer.from(text), (error) => (error ? reject(error) : resolve()));
  });
}
