import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { WebSocket } from "ws";
import { silentLog } from "../../../../../../agent/src/base/log.ts";
import { fail, succeed } from "../../../../../../agent/src/engine/engine.ts";
import { SimulatedLog } from "../../../../../../agent/src/simulated/log.ts";
import { createTunnels } from "../../../../../../agent/src/streams/tunnel.ts";
import { camelFields } from "../../../../../../agent/src/wire/fields.ts";
import { OpenTunnel } from "../../../../../../protocol/index.ts";
import { soon, testApp, type TestApp } from "../../../../../../test/support/app.ts";
import { aKey, inTransaction, type TestCaller } from "../../../../../../test/support/fixtures.ts";
import type { FakeHost } from "../../../../../../test/support/hosts/fake-host.ts";
import { LiveFollower } from "../../../../../../test/support/live-follower.ts";
import { rent, rentAndRun } from "../../../../../../test/support/rentals.ts";
import { Cleanups } from "../../../../../../test/support/sign-in/closing.ts";

const LOOK_MS = 3_000;

describe("the log of an instance", () => {
  const cleanups = new Cleanups();
  const logs = new Map<number, SimulatedLog>();
  /** The answer of a host that sends something else than its log, when a test says so. */
  let answerFalsely: ((tunnel: WebSocket) => void) | undefined;
  let app: TestApp;
  let host: FakeHost;
  let user: TestCaller;

  before(async () => {
    app = await testApp(cleanups);
    host = await app.host({
      gpus: 16,
      facts: { is_simulated: true, follows_logs: true },
      enter: (request, url, token) => {
        if (answerFalsely !== undefined) {
          const tunnel = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
          tunnel.on("error", () => {});
          return void tunnel.once("open", () => answerFalsely?.(tunnel));
        }
        const tunnels = createTunnels({
          ...{ clock: app.clock, log: silentLog, ssh: undefined, addressOf: () => undefined },
          serverUrl: () => `ws://${app.origin}/agent`,
          token: () => token,
          followLog: async (id, wish, signal) => {
            const log = logs.get(id);
            return log === undefined ? fail("not_found", "no log") : succeed(log.follow({ ...wish, signal }));
          },
        });
        tunnels.open(camelFields(OpenTunnel, request));
      },
    });
    user = await app.caller();
  });
  after(() => cleanups.run());

  const anInstance = async (lines: readonly string[] = []) => {
    const id = await rentAndRun(app, user, host);
    const log = new SimulatedLog(() => app.clock.now());
    log.isOpen = true;
    for (const line of lines) log.write(line);
    logs.set(id, log);
    return { id, log };
  };
  const follow = async (id: number, query = "", after?: string, secret = user.secret) => {
    const path = `/api/v0/instances/${id}/logs/${query}`;
    const follower = await LiveFollower.connect(`http://${app.origin}`, {
      ...{ secret, path },
      ...(after === undefined ? {} : { after }),
    });
    cleanups.after(() => follower.close());
    return follower;
  };
  const textOf = (follower: LiveFollower) => follower.of("log").map(({ data }) => String(data["text"]).trimEnd());

  test("comes as it is written, ends with the container, and goes on behind any place once each", async () => {
    const { id, log } = await anInstance(["first", "second"]);
    const follower = await follow(id);
    await soon("what was there", () => textOf(follower).length === 2);
    log.write("third\n: not a comment\nevent: end");
    await soon("what came", () => textOf(follower).length === 3);
    log.end("last");
    await soon("the end", () => follower.isOver);
    assert.deepEqual(textOf(follower), ["first", "second", "third\n: not a comment\nevent: end", "last"]);
    assert.deepEqual(
      follower.heard.map(({ event }) => event),
      ["log", "log", "log", "log", "end"],
    );
    assert.deepEqual(follower.heard[0]?.data["stream"], "stdout");
    for (const [index, { id: place = "" }] of follower.of("log").entries()) {
      const again = await follow(id, "", place);
      await soon("the end", () => again.isOver);
      assert.deepEqual(textOf(again), textOf(follower).slice(index + 1));
    }
    const some = await follow(id, "?tail=1&follow=false");
    await soon("the end", () => some.isOver);
    assert.deepEqual(textOf(some), ["last"]);
    const lost = await follow(id, "?last_event_id=1-0");
    await soon("the end", () => lost.isOver);
    assert.deepEqual([lost.heard[0]?.event, textOf(lost)], ["gap", textOf(follower)]);
  });

  test("is refused with the answers of any other request", async () => {
    const { id } = await anInstance();
    const [stranger, writer] = [await app.caller(), await app.caller({ permissions: { api: { instance_write: {} } } })];
    const stopped = await rent(app, user, host, { target_state: "stopped" });
    const older = await app.host({ gpus: 1, facts: { is_simulated: true } });
    const unfollowed = await rentAndRun(app, user, older);
    const cases = [
      [404, "no_such_instance", id, stranger.secret, {}],
      [403, "not_authorized", id, writer.secret, {}],
      [404, "no_such_instance", 99_999, user.secret, {}],
      [409, "never_started", stopped, user.secret, {}],
      [409, "cannot_follow_logs", unfollowed, user.secret, {}],
      [400, "invalid_args", `${id}/logs/?tail=-1#`, user.secret, {}],
      [400, "invalid_args", id, user.secret, { "last-event-id": "yesterday" }],
    ] as const;
    for (const [status, error, of, secret, headers] of cases) {
      const url = String(of).includes("?") ? `/api/v0/instances/${of}` : `/api/v0/instances/${of}/logs/`;
      const answer = await app.call({ url, secret, headers });
      assert.deepEqual([answer.status, answer.body.error], [status, error], `${url} ${answer.text}`);
    }
  });

  test("holds a host up that prints faster than the client may read, and loses nothing", async () => {
    const { id } = await anInstance();
    let sentBytes = 0;
    let tunnelCount = 0;
    answerFalsely = (tunnel) => {
      const text = `${"x".repeat(10_000)}\n`;
      tunnelCount += 1;
      tunnel.once("close", () => (tunnelCount -= 1));
      const print = (count: number) => {
        if (tunnel.readyState !== tunnel.OPEN || count === 3_000) return;
        sentBytes += text.length;
        tunnel.send(
          Buffer.from(`${JSON.stringify({ kind: "text", place: `${count + 1}-0`, is_stderr: true, text })}\n`),
          () => print(count + 1),
        );
      };
      print(0);
    };
    const follower = await follow(id);
    let before = -1;
    let stillCount = 0;
    await soon("the host to stand still", () => {
      stillCount = sentBytes === before ? stillCount + 1 : 0;
      before = sentBytes;
      return stillCount > 200;
    });
    const heardBytes = () => textOf(follower).length * 10_000;
    assert.ok(heardBytes() <= 5_000_000, `${heardBytes()} bytes came at once`);
    assert.ok(sentBytes < 25_000_000, `${sentBytes} bytes wait for a client`);
    const heard = heardBytes();
    app.clock.advance(2_000);
    await soon("the next seconds", () => heardBytes() > heard + 1_000_000);
    assert.deepEqual(
      follower.of("log").map(({ id: place }) => place),
      follower.of("log").map((_, index) => `${index + 1}-0`),
    );
    await follower.close();
    const leaving = new AbortController();
    const headers = { authorization: `Bearer ${user.secret}` };
    const url = `http://${app.origin}/api/v0/instances/${id}/logs/`;
    const unread = await fetch(url, { headers, signal: leaving.signal });
    assert.equal(unread.status, 200);
    await soon("the host to stand still again", () => {
      stillCount = sentBytes === before ? stillCount + 1 : 0;
      before = sentBytes;
      return stillCount > 200;
    });
    leaving.abort();
    await soon("the host to hear that the client left", () => tunnelCount === 0);
    answerFalsely = undefined;
  });

  test("ends without harm when a host sends something else", async () => {
    const { id } = await anInstance();
    const lies = ["no json\n", '{"kind":"text"}\n', `${JSON.stringify({ kind: "text", place: "1", text: "" })}\n`];
    for (const lie of lies) {
      answerFalsely = (tunnel) => tunnel.send(Buffer.from(lie));
      const follower = await follow(id);
      await soon("the end", () => follower.isOver);
      assert.deepEqual(follower.heard, []);
    }
    answerFalsely = undefined;
  });

  test("is followed eight times at most for one instance, and a closed one frees its place", async () => {
    const { id } = await anInstance();
    const open: LiveFollower[] = [];
    for (let count = 0; count < 8; count += 1) open.push(await follow(id));
    const path = `/api/v0/instances/${id}/logs/`;
    const ninth = await app.call({ url: path, secret: user.secret });
    assert.deepEqual([ninth.status, ninth.body.error], [409, "too_many_logs"]);
    await open[0]?.close();
    const once = { url: `${path}?follow=false`, secret: user.secret };
    await soon("a place", async () => (await app.call(once)).status === 200);
  });

  test("ends within seconds when the key is gone, and shows life while nothing is printed", async () => {
    const { id } = await anInstance(["only"]);
    const key = await inTransaction(app.env.database, (tx) => aKey(tx, { id: user.id, isAdmin: false }));
    const follower = await follow(id, "", undefined, key.secret);
    await soon("a sign of life", () => {
      if (follower.comments.length > 0) return true;
      app.clock.advance(LOOK_MS);
      return false;
    });
    assert.equal(follower.isOver, false);
    await app.env.pool.query("update api_keys set deleted_at = now() where id = $1", [key.identity.apiKeyId]);
    await soon("the end", () => {
      app.clock.advance(LOOK_MS);
      return follower.isOver;
    });
    assert.deepEqual(follower.of("end"), []);
  });
});
