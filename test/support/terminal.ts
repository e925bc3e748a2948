import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { WebSocket } from "ws";
import { soon } from "./app.ts";

export type TerminalClient = {
  readonly socket: WebSocket;
  /** Everything that was printed so far. */
  readonly text: () => string;
  type(text: string): void;
  resize(size: unknown): void;
  /** Waits until this was printed after the last call of `shows`. */
  shows(text: string): Promise<void>;
  /** The code and reason of the end, once there is one. */
  ended(): Promise<readonly [code: number, reason: string]>;
};

/** Opens a terminal as a browser does, with these headers. */
export async function openTerminal(
  t: Pick<TestContext, "after">,
  { origin, id, query = "", headers }: { origin: string; id: number; query?: string; headers: Record<string, string> },
): Promise<TerminalClient> {
  const socket = new WebSocket(`ws://${origin}/api/v0/instances/${id}/terminal/${query}`, { headers });
  t.after(() => socket.terminate());
  let text = "";
  let readTo = 0;
  let ending: readonly [number, string] | undefined;
  socket.on("message", (data) => (text += String(data)));
  socket.once("close", (code, reason) => (ending = [code, String(reason)]));
  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("error", reject);
  });
  return {
    socket,
    text: () => text,
    type: (typed) => socket.send(Buffer.from(typed)),
    resize: (size) => socket.send(JSON.stringify(size)),
    async shows(wanted) {
      await soon(`${JSON.stringify(wanted)} in the terminal`, () => {
        assert.equal(ending, undefined, `the terminal ended: ${String(ending)}; it showed ${text.slice(-2_000)}`);
        return text.includes(wanted, readTo);
      });
      readTo = text.indexOf(wanted, readTo) + wanted.length;
    },
    async ended() {
      await soon("the end of the terminal", () => ending !== undefined);
      assert.ok(ending);
      return ending;
    },
  };
}

/** The answer to a request for a terminal that is refused. */
export async function refusedTerminal(origin: string, path: string, headers: Record<string, string>) {
  const socket = new WebSocket(`ws://${origin}${path}`, { headers });
  return new Promise<{ readonly status: number; readonly body: { readonly error: string; readonly msg: string } }>(
    (resolve, reject) => {
      socket.once("open", () => {
        socket.terminate();
        reject(new Error("the terminal was opened"));
      });
      socket.once("error", reject);
      socket.once("unexpected-response", (_request, response) => {
        const parts: Buffer[] = [];
        response.on("data", (part: Buffer) => parts.push(part));
        response.once("end", () => {
          const body = JSON.parse(Buffer.concat(parts).toString("utf8"));
          socket.on("error", () => {});
          socket.terminate();
          resolve({ status: response.statusCode ?? 0, body });
        });
      });
    },
  );
}
