// Notes when the agents of this process sent their reports and when the server answered them, as seen on the wire.
import { appendFileSync } from "node:fs";
import { WebSocket, type RawData } from "ws";
import { systemClock } from "../../../agent/src/base/clock.ts";

type Files = { readonly sends: string; readonly answers: string };
type Told = { readonly files: Files; readonly sentAtMs: Map<number, number> };

/** The fields of an agent's messages that this module reads. */
type Message = { readonly kind?: string; readonly host_key?: string; readonly sequence?: number };

/** Has every report of a host noted in its files from now on: a line when it is sent, and one when it is answered. */
export function noteReports(filesOf: (hostKey: string) => Files): void {
  const told = new WeakMap<WebSocket, Told>();
  const send = WebSocket.prototype.send;
  const note = (socket: WebSocket, { kind, host_key: hostKey, sequence }: Message) => {
    if (kind === "hello" && hostKey !== undefined) {
      const own: Told = { files: filesOf(hostKey), sentAtMs: new Map() };
      told.set(socket, own);
      socket.on("message", (data: RawData) => noteAnswer(own, parse(data.toString())));
    } else if (kind === "report" && sequence !== undefined) noteSend(told.get(socket), sequence);
  };
  WebSocket.prototype.send = function (this: WebSocket, ...args: Parameters<typeof send>) {
    if (typeof args[0] === "string" && args[0].startsWith("{")) note(this, parse(args[0]));
    send.apply(this, args);
  } as typeof send;
}

function noteSend(own: Told | undefined, sequence: number): void {
  if (own === undefined) return;
  const atMs = systemClock.now().getTime();
  own.sentAtMs.set(sequence, atMs);
  appendFileSync(own.files.sends, `${atMs}\n`);
}

function noteAnswer({ files, sentAtMs }: Told, { kind, sequence = -1 }: Message): void {
  const fromMs = sentAtMs.get(sequence);
  if (kind !== "acknowledge" || fromMs === undefined) return;
  appendFileSync(files.answers, `${JSON.stringify({ fromMs, toMs: systemClock.now().getTime() })}\n`);
}

function parse(text: string): Message {
  return JSON.parse(text) as Message;
}
