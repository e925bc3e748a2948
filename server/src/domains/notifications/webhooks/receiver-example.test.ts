import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { systemClock } from "../../../base/clock.ts";
import { asId, type UserId } from "../../../base/ids.ts";
import { signedRequest } from "../delivery/rules/event.ts";
import { createWebhookClient } from "./client.ts";

const DOCUMENT = path.join(import.meta.dirname, "../../../../../docs/notifications.md");

test("the receiver in the documentation accepts a genuine event, once, and nothing else", async (t) => {
  const [, code = ""] = /```js\n([^]*?)```/.exec(await readFile(DOCUMENT, "utf8")) ?? [];
  const directory = await mkdtemp(path.join(tmpdir(), "receiver-"));
  t.after(() => rm(directory, { recursive: true }));
  const file = path.join(directory, "receiver.mjs");
  await writeFile(file, code);
  const secret = "whsec_shown";
  const child = spawn(process.execPath, [file], { env: { WEBHOOK_SECRET: secret, PORT: "0" } });
  t.after(() => void child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const port = Number(/\d+$/.exec(String((await lines.next()).value))?.[0]);
  // Stands still: the test is about the receiver's answers, not their time.
  const clock = new ManualClock();
  const call = createWebhookClient({ clock, resolve: async () => ["127.0.0.1"], isPrivateAllowed: true });
  const now = systemClock.now();
  const event = {
    eventId: "evt_1",
    userId: asId<UserId>(7),
    kind: "client:outbid",
    subject: "Instance 12 was outbid",
    message: "Grüße",
    createdAt: now,
  };
  const send = async (request: ReturnType<typeof signedRequest>) =>
    (await call(`http://localhost:${port}/`, request, new AbortController().signal)).text;
  const genuine = signedRequest(event, { secret, attempt: 1, now });
  assert.equal(await send(genuine), "answered 204");
  assert.equal(await send(signedRequest(event, { secret, attempt: 2, now })), "answered 204");
  assert.equal(await send(signedRequest(event, { secret: "whsec_other", attempt: 1, now })), "answered 401");
  const old = new Date(now.getTime() - 310_000);
  assert.equal(await send(signedRequest(event, { secret, attempt: 1, now: old })), "answered 401");
  const changed = Buffer.from(genuine.body.toString().replace("12", "13"));
  assert.equal(await send({ ...genuine, body: changed }), "answered 401");
  assert.equal(await send(signedRequest({ ...event, eventId: "evt_2" }, { secret, attempt: 1, now })), "answered 204");
  assert.equal((await lines.next()).value, "outbid: Instance 12 was outbid");
  assert.equal((await lines.next()).value, "outbid: Instance 12 was outbid");
  child.kill();
  assert.equal((await lines.next()).done, true);
});
