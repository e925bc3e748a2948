import assert from "node:assert/strict";
import { once } from "node:events";
import { test, type TestContext } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { soon } from "../../../../../../test/support/app.ts";
import { ManualClock } from "../../../../../../test/support/manual-clock.ts";
import { asId, type InstanceId } from "../../../../base/ids.ts";
import { createLog } from "../../../../base/log.ts";
import { ENDINGS, OpenTerminals, type Ending, type OpenTerminal } from "./open-terminals.ts";

const MINUTE_MS = 60_000;
const PING_MS = 20_000;
const INSTANCE = asId<InstanceId>(1);

/** A terminal whose two sides are connected over loopback; `answersPings` is what every living browser does by itself. */
async function aTerminal(t: TestContext, { answersPings = true } = {}) {
  const clock = new ManualClock();
  const terminals = new OpenTerminals(clock, createLog("silent"));
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const client = new WebSocket(`ws://127.0.0.1:${address.port}`, { autoPong: answersPings });
  t.after(() => client.terminate());
  const opened: Promise<WebSocket> = new Promise((resolve) => server.once("connection", resolve));
  const socket = await opened;
  const endings: Ending[] = [];
  const terminal: OpenTerminal = {
    ...{ instanceId: INSTANCE, socket, lastUseMs: 0, lastAnswerMs: 0 },
    refusal: async () => undefined,
    end: (ending) => {
      endings.push(ending);
      socket.close(ending.code, ending.reason);
    },
  };
  terminals.add(terminal);
  let pingCount = 0;
  client.on("ping", () => (pingCount += 1));
  const pass = (ms: number) => {
    clock.jump(ms);
    return terminals.sweep();
  };
  /** Lets as much time pass as lies between two pings, and waits until the browser has got the next one. */
  const untilPinged = async () => {
    const before = pingCount;
    await pass(PING_MS);
    await soon("a ping", () => pingCount > before);
  };
  return { clock, socket, client, terminal, endings, pass, untilPinged };
}

test("pings keep a terminal open in which nothing happens, until an hour without a byte either way", async (t) => {
  const { clock, client, terminal, endings, pass, untilPinged } = await aTerminal(t);
  while (clock.monotonicMs() < 60 * MINUTE_MS) {
    await untilPinged();
    await soon("the answer", () => terminal.lastAnswerMs === clock.monotonicMs());
  }
  assert.deepEqual(endings, []);
  const closed = once(client, "close");
  await pass(2_000);
  const [code, reason] = await closed;
  assert.deepEqual([code, String(reason)], [ENDINGS.idle.code, ENDINGS.idle.reason]);
});

test("a byte in either direction begins the hour again", async (t) => {
  const { clock, terminal, endings, untilPinged } = await aTerminal(t);
  const quietFor = async (untilMs: number) => {
    while (clock.monotonicMs() < untilMs) {
      await untilPinged();
      await soon("the answer", () => terminal.lastAnswerMs === clock.monotonicMs());
    }
  };
  await quietFor(59 * MINUTE_MS);
  terminal.lastUseMs = clock.monotonicMs();
  await quietFor(118 * MINUTE_MS);
  assert.deepEqual(endings, []);
});

test("a browser that answers no ping for a minute is cut off, also when it takes no closing words", async (t) => {
  const { socket, client, endings, pass, untilPinged } = await aTerminal(t, { answersPings: false });
  for (let ping = 0; ping < 3; ping += 1) await untilPinged();
  assert.deepEqual(endings, []);
  client.pause();
  const closed = once(socket, "close");
  await pass(2_000);
  await closed;
  assert.deepEqual(endings, [ENDINGS.silent]);
});
