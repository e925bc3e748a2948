// Hazards around a worker: backends that end first, clients that send twice, clocks that are set, full disks.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { RequestListener, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { until } from "../../test/support/until.ts";
import { aReadyWorker, authFor, aWorker, TOKEN } from "../test/place.ts";

const well: RequestListener = (request, response) => {
  request.resume().on("end", () => response.end("done"));
};

test("a backend that ends while the container ends is no failure of the worker", async (t) => {
  const waiting: ServerResponse[] = [];
  let isGone = false;
  const { ask, server, worker, pass, log } = await aReadyWorker(t, (request, response) => {
    if (isGone) response.destroy();
    else if (request.url === "/health") response.end();
    else waiting.push(response);
  });
  const cut = ask("/work");
  await until("at work", () => waiting.length === 1);
  const other = ask("/work", { auth: { request_idx: 2, reqnum: 2 } });
  await until("both at work", () => waiting.length === 2);
  let isDrained = false;
  const drained = worker.drain(600_000).then(() => (isDrained = true));
  isGone = true;
  waiting[0]?.destroy();
  assert.equal((await cut).status, 500);
  const polls = server.statuses.length;
  await pass("looks at the backend", () => server.statuses.length > polls + 3);
  waiting[1]?.end("done");
  assert.equal((await other).status, 200);
  await pass("the end", () => isDrained);
  await drained;
  assert.deepEqual(
    server.statuses.filter((status) => status["error_msg"] !== ""),
    [],
    log.join("\n"),
  );
});

test("a silent backend fails when it has nothing to do, and not while it is at work", async (t) => {
  const waiting: ServerResponse[] = [];
  let isBlocked = false;
  const { ask, server, pass, clock } = await aReadyWorker(t, (request, response) => {
    if (request.url === "/work") waiting.push(response);
    else if (!isBlocked) response.end();
  });
  const asked = ask("/work");
  await until("at work", () => waiting.length === 1);
  isBlocked = true;
  const at = clock.monotonicMs();
  await pass("a long piece of work", () => clock.monotonicMs() - at >= 60_000);
  waiting[0]?.end("done");
  assert.equal((await asked).status, 200);
  assert.ok(server.statuses.every((status) => status["error_msg"] === ""));
  await pass(
    "the failure",
    () => server.last["error_msg"] === "the backend does not answer: it says nothing at /health",
  );
});

test("only one of several concurrent copies of a request is served", async (t) => {
  let count = 0;
  const { ask } = await aReadyWorker(t, (request, response) => {
    if (request.url === "/work") count += 1;
    well(request, response);
  });
  // All copies wait for the server's key.
  const answers = await Promise.all([ask("/work"), ask("/work"), ask("/work")]);
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 401, 401],
  );
  assert.equal(count, 1);
});

test("a session is served in its own place even when the worker refuses other requests, and opens no other session", async (t) => {
  const { ask, url } = await aReadyWorker(t, well);
  const auth = { cost: 5_000 };
  assert.equal((await ask("/session/create", { auth, payload: { lifetime: 60 } })).status, 201);
  const within = () => ask("/work", { auth, sessionId: "session-1" });
  const fresh = { request_idx: 2, reqnum: 2 };
  assert.equal((await ask("/work", { auth: fresh })).status, 429, "the session takes all the room");
  assert.equal((await within()).status, 200);
  const nested = await ask("/session/create", { auth, sessionId: "session-1", payload: { lifetime: 60 } });
  assert.equal(nested.status, 422);
  await fetch(`${url}/pyworker/update`, { method: "POST", headers: { authorization: `Bearer ${TOKEN}` } });
  assert.equal((await ask("/work", { auth: fresh })).status, 503);
  assert.equal((await within()).status, 200, "it is what the worker still has to finish");
});

test("a clock that is set ends no session", async (t) => {
  const { ask, url, clock, pass } = await aReadyWorker(t, well);
  const expiration = async (answer: Response) => Number(((await answer.json()) as { expiration: number }).expiration);
  const opened = await ask("/session/create", { payload: { lifetime: 60 } });
  assert.equal(await expiration(opened), clock.now().getTime() / 1000 + 60);
  clock.skewMs = 3_600_000;
  const at = clock.monotonicMs();
  await pass("some looks for sessions that are over", () => clock.monotonicMs() - at >= 5_000);
  const body = JSON.stringify({ session_id: "session-1", session_auth: authFor(url) });
  const shown = await fetch(`${url}/session/get`, { method: "POST", body });
  assert.equal(shown.status, 200);
  assert.equal(await expiration(shown), clock.now().getTime() / 1000 + 60);
});

test("a backend that closes a connection when it is used again fails no request", async (t) => {
  const used = new WeakSet<object>();
  const { ask } = await aReadyWorker(t, (request, response) => {
    if (used.has(request.socket)) return void request.socket.destroy();
    used.add(request.socket);
    return well(request, response);
  });
  for (const number of [1, 2, 3]) {
    const answer = await ask("/work", { auth: { request_idx: number, reqnum: number } });
    assert.deepEqual([answer.status, await answer.text()], [200, "done"]);
  }
});

test("a refusal of the backend is passed on, and does not count as served work", async (t) => {
  const { ask, server, pass } = await aReadyWorker(t, (request, response) => {
    response.writeHead(request.url === "/health" ? 200 : 404).end("no such model");
  });
  const answer = await ask("/work");
  assert.deepEqual([answer.status, await answer.text()], [404, "no such model"]);
  await pass("its end", () => server.done.includes("1 Error"));
  const { length } = server.statuses;
  await pass("reports", () => server.statuses.length > length + 1);
  assert.ok(server.statuses.every((status) => status["cur_perf"] === 0));
});

test("a benchmark result that cannot be stored is measured, and that of another worker is not used", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-worker-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const kept = path.join(folder, "kept.json");
  const benchmark = { route: "/work", payload: {}, load: 50, requests: 2, concurrency: 1 };
  const start = async (file: string, id: string) => {
    const { worker, log } = await aWorker(t, well, {
      benchmark: { ...benchmark, file },
      variables: { CONTAINER_ID: id },
    });
    assert.equal(await worker.ready, true, log.join("\n"));
    return log;
  };
  const blocked = path.join(folder, "blocked");
  writeFileSync(blocked, "");
  const log = await start(path.join(blocked, "b.json"), "7");
  assert.ok(log.some((line) => line.startsWith("cannot keep ")));
  await start(kept, "7");
  const first = readFileSync(kept, "utf8");
  await start(kept, "8");
  assert.notEqual(readFileSync(kept, "utf8"), first);
});
