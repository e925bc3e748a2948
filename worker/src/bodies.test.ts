import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type IncomingMessage } from "node:http";
import { test, type TestContext } from "node:test";
import { listen } from "../test/place.ts";
import { until } from "../../test/support/until.ts";
import { Bodies } from "./bodies.ts";

/** A server that answers with the bodies that it could read. */
async function aReader(t: TestContext) {
  const bodies = new Bodies({ one_bytes: 10, all_bytes: 15 });
  let begun = 0;
  const server = createServer((asked, response) => {
    asked.once("readable", () => (begun += 1));
    void bodies.read(asked, response).then((text) => (text === undefined ? undefined : response.end(text)));
  });
  const url = await listen(t, server);
  const send = async (body: string) => {
    const answer = await fetch(url, { method: "POST", body });
    return [answer.status, answer.ok ? await answer.text() : ""];
  };
  return { url, send, begun: () => begun };
}

test("a body that is too large is refused, with and without a declared length", async (t) => {
  const { send } = await aReader(t);
  assert.deepEqual(await send("0123456789"), [200, "0123456789"]);
  assert.deepEqual(await send("0123456789a"), [413, ""]);
});

test("unfinished bodies leave no room for more, until their senders disconnect", async (t) => {
  const { url, send, begun } = await aReader(t);
  const slow = request(url, { method: "POST", headers: { "content-length": 10 } }).on("error", () => undefined);
  slow.write("01234567");
  await until("it is read", () => begun() === 1);
  assert.deepEqual(await send("01234567"), [503, ""]);
  assert.deepEqual(await send("012345"), [200, "012345"]);
  slow.end("89");
  const [answer]: IncomingMessage[] = await once(slow, "response");
  assert.equal(answer?.statusCode, 200);
  assert.deepEqual(await send("0123456789"), [200, "0123456789"]);
  const leaving = request(url, { method: "POST", headers: { "content-length": 10 } }).on("error", () => undefined);
  leaving.write("01234567");
  await until("it is read", () => begun() === 5);
  leaving.destroy();
  await until("there is room again", async () => (await send("0123456789"))[0] === 200);
});
