import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { soon, testApp, type TestApp } from "../../../../../test/support/app.ts";
import type { TestCaller } from "../../../../../test/support/fixtures.ts";
import { asId, type EndpointGroupId } from "../../../base/ids.ts";

const LONG = "x".repeat(1_000_000);

/** An endpoint without workers, which costs nothing, and a way to send it completions. */
async function idleEndpoint(app: TestApp): Promise<Idle> {
  const owner = await app.caller({ dollars: 0 });
  const body = { endpoint_name: "idle", cold_workers: 0, min_load: 0 };
  const made = await app.call({ method: "POST", url: "/api/v0/endptjobs/", secret: owner.secret, body });
  assert.equal(made.status, 200, made.text);
  const ask = (text: string): Ask => {
    const hangUp = new AbortController();
    const state: Ask = { hangUp, status: undefined };
    const sent = fetch(`http://${app.origin}/idle/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${owner.secret}` },
      body: JSON.stringify({ prompt: text }),
      signal: hangUp.signal,
    });
    void sent.then(({ status }) => (state.status = status)).catch(() => {});
    return state;
  };
  const id = asId<EndpointGroupId>(Number(made.body.result));
  return { owner, ask, waiting: () => app.app.routers.of(id)?.queue().requestCount ?? 0 };
}

type Idle = { readonly owner: TestCaller; readonly ask: (text: string) => Ask; readonly waiting: () => number };
type Ask = { readonly hangUp: AbortController; status: number | undefined };

test("requests of one account that wait for a worker hold a bounded part of the memory, and other accounts may wait as well", async (t) => {
  const app = await testApp(t, { secret: randomBytes(32) });
  const [greedy, other] = [await idleEndpoint(app), await idleEndpoint(app)];
  const many: Ask[] = [];
  const refusedCount = () => many.filter(({ status }) => status === 503).length;
  while (many.length < 140) {
    // A few at a time: arriving bodies have a limit of their own.
    for (let count = 0; count < 10; count += 1) many.push(greedy.ask(LONG));
    await soon("each waits or is refused", () => greedy.waiting() + refusedCount() === many.length);
  }
  assert.ok(greedy.waiting() >= 120 && greedy.waiting() <= 134, `${greedy.waiting()} megabytes wait`);
  const { secret } = greedy.owner;
  const told = await app.call({ method: "POST", url: "/idle/v1/completions", secret, body: { prompt: LONG } });
  assert.deepEqual([told.status, told.body.error.code], [503, "too_many_waiting"]);

  const waits = other.ask("hello");
  await soon("another account waits", () => other.waiting() === 1);
  for (const { hangUp } of many) hangUp.abort();
  await soon("all left", () => greedy.waiting() === 0);
  const again = greedy.ask(LONG);
  await soon("the memory of those that left is free", () => greedy.waiting() === 1);
  for (const { hangUp } of [again, waits]) hangUp.abort();
});
