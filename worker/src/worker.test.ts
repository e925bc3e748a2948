import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { until } from "../../test/support/until.ts";
import { aReadyWorker, aWorker, authFor, echo, listen, RecordingServer, TOKEN } from "../test/place.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { startWorker } from "./index.ts";

/** A backend whose answers the test gives. */
function held(): { readonly listener: RequestListener; readonly waiting: ServerResponse[] } {
  const waiting: ServerResponse[] = [];
  const listener: RequestListener = (request, response) => {
    if (request.url === "/health") return response.end();
    request.resume();
    return waiting.push(response);
  };
  return { listener, waiting };
}

test("a worker reports while it loads, reports once that it is ready, and again every ten seconds", async (t) => {
  let isWell = false;
  const { server, clock, pass, worker } = await aWorker(t, (_request, response) => {
    response.writeHead(isWell ? 200 : 503).end();
  });
  await pass("two reports", () => server.statuses.length >= 2);
  const { id, mtoken, loadtime, max_perf, error_msg, url } = server.last;
  assert.deepEqual([id, mtoken, loadtime, max_perf, error_msg, url], [7, TOKEN, 0, 0, "", worker.url]);
  isWell = true;
  await pass("ready", () => server.last["max_perf"] === 100);
  assert.equal(await worker.ready, true);
  const count = server.statuses.length;
  const at = clock.monotonicMs();
  await pass("three more reports", () => server.statuses.length >= count + 3);
  assert.ok(clock.monotonicMs() - at >= 20_000, "quiet workers are quiet");
  assert.equal(server.statuses.filter((status) => Number(status["loadtime"]) > 0).length, 1);
});

test("a routed request reaches the backend as its payload alone, its answer is passed on, and it is reported as done", async (t) => {
  const { ask, server, pass } = await aReadyWorker(t, echo);
  const answer = await ask("/work", { payload: { a: [1, "ü"] } });
  assert.deepEqual([answer.status, answer.headers.get("x-own")], [200, "kept"]);
  assert.equal(await answer.text(), '/work {"a":[1,"ü"]}');
  await pass("the end of the request", () => server.done.length === 1);
  assert.deepEqual(server.done, ["1 Success"]);
  const [done] = server.finished;
  assert.ok(Number(done?.["work_completed_at"]) >= Number(done?.["entered_queue_at"]));
  await pass("its report", () => server.statuses.some((status) => status["cur_perf"] === 10));
  assert.equal(
    server.statuses.reduce((total, status) => total + Number(status["new_load"]), 0),
    10,
  );
});

test("each missing field of the router is named, and a request that is not signed for this worker is refused", async (t) => {
  const { ask, url, server } = await aReadyWorker(t, echo);
  const bare = await fetch(`${url}/work`, { method: "POST", body: JSON.stringify({ auth_data: { cost: "1", url } }) });
  assert.equal(bare.status, 422);
  const missing = "field missing";
  assert.deepEqual(await bare.json(), {
    auth_data: {
      cost: "is not a number",
      endpoint: missing,
      reqnum: missing,
      request_idx: missing,
      expires_at: missing,
      signature: missing,
      ticket: missing,
    },
  });
  for (const body of ["", "[]", "{}", '{"auth_data":[]}', "{"]) {
    assert.equal((await fetch(`${url}/work`, { method: "POST", body })).status, 422, body);
  }
  assert.equal((await ask("/work", { auth: { signature: "AAAA" } })).status, 401);
  const foreign = authFor("http://192.0.2.9:1");
  assert.equal((await ask("/work", { auth: { ...foreign } })).status, 401, "another worker's");
  assert.equal((await ask("/work")).status, 200);
  assert.equal((await ask("/work")).status, 401, "a second time");
  assert.equal((await ask("/work", { auth: { reqnum: 2 } })).status, 200, "routed here again");
  assert.equal((await ask("/elsewhere")).status, 404);
  assert.equal((await fetch(`${url}/work`)).status, 404);
  assert.equal(server.keyFetches, 1);
});

test("a request that would wait too long is refused, and reported as rejected", async (t) => {
  const { listener, waiting } = held();
  const { ask, server, pass } = await aReadyWorker(t, listener);
  const first = ask("/work", { auth: { cost: 3_001 } });
  await until("the first at work", () => waiting.length === 1);
  assert.equal((await ask("/work", { auth: { request_idx: 2, reqnum: 2 } })).status, 429);
  await pass("the refusal", () => server.done.includes("2 Rejected"));
  await pass("its report", () => server.statuses.some((status) => status["rej_load"] === 10));
  await pass("what is in progress", () => server.last["cur_load"] === 3_001);
  assert.deepEqual(server.last["working_request_idxs"], [1]);
  waiting[0]?.end("done");
  assert.equal((await first).status, 200);
});

test("a backend that takes one request at a time gets one at a time, and one that leaves the queue is never begun", async (t) => {
  const { listener, waiting } = held();
  const { ask, server, pass } = await aReadyWorker(t, listener, { atOnce: 1 });
  const first = ask("/work");
  await until("the first at work", () => waiting.length === 1);
  const leaving = new AbortController();
  const second = ask("/work", { auth: { request_idx: 2, reqnum: 2 }, signal: leaving.signal });
  await pass("both in progress", () => server.last["num_requests_working"] === 2);
  leaving.abort();
  await assert.rejects(second);
  await pass("the one that left", () => server.done.includes("2 Cancelled"));
  const third = ask("/work", { auth: { request_idx: 3, reqnum: 3 } });
  waiting[0]?.end("one");
  assert.equal(await (await first).text(), "one");
  await until("the third at work", () => waiting.length === 2);
  waiting[1]?.end("three");
  assert.equal(await (await third).text(), "three");
  await pass("all told", () => server.done.length === 3);
  assert.equal(server.finished.find((one) => one["request_idx"] === 2)?.["work_started_at"], null);
});

test("a streamed answer arrives event by event, and a client that disconnects ends the backend's work", async (t) => {
  const { listener, waiting } = held();
  const { ask, server, pass } = await aReadyWorker(t, listener);
  const leaving = new AbortController();
  const asked = ask("/work", { signal: leaving.signal });
  await until("at work", () => waiting.length === 1);
  const [backend] = waiting;
  const ended = new Promise((resolve) => backend?.once("close", resolve));
  backend?.writeHead(200, { "content-type": "text/event-stream" }).write("data: 1\n\n");
  const answer = await asked;
  assert.equal(answer.headers.get("content-type"), "text/event-stream");
  const reader = answer.body?.getReader();
  const first = await reader?.read();
  assert.equal(Buffer.from(first?.value ?? []).toString(), "data: 1\n\n");
  leaving.abort();
  await ended;
  await pass("its end", () => server.done.length === 1);
  assert.deepEqual(server.done, ["1 Cancelled"]);
});

test("a large answer arrives whole, and a backend is read no faster than its client reads", async (t) => {
  const size = 64 * 1024 * 1024;
  const part = Buffer.alloc(1024 * 1024, "x");
  let written = 0;
  const { ask } = await aReadyWorker(t, (request, response) => {
    if (request.url === "/health") return response.end();
    request.resume();
    const more = () => {
      if (written === size) return void response.end();
      written += part.length;
      response.write(part, more);
    };
    return more();
  });
  const answer = await ask("/work");
  const before = written;
  const digest = createHash("sha256");
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    digest.update(chunk);
    length += chunk.length;
  }
  assert.ok(before < size, "it was not taken in whole");
  assert.equal(length, size);
});

test("a failed request gets a 500 and is reported as an error, and a backend that stays away as the worker's failure", async (t) => {
  let isWell = true;
  const { ask, server, pass } = await aReadyWorker(t, (request, response) => {
    if (isWell && request.url === "/health") response.end();
    else response.destroy();
  });
  assert.equal((await ask("/work")).status, 500);
  assert.equal((await ask("/work")).status, 500, "a request that failed may come again");
  await pass("its end", () => server.done.includes("1 Error"));
  assert.equal(server.last["error_msg"], "");
  isWell = false;
  await pass("the failure", () => String(server.last["error_msg"]).startsWith("the backend does not answer"));
});

test("a report that a server refuses is sent again, without loss or duplication", async (t) => {
  const { ask, server, pass } = await aReadyWorker(t, echo);
  server.refusal = 503;
  for (const number of [1, 2, 3]) {
    assert.equal((await ask("/work", { auth: { request_idx: number, reqnum: number } })).status, 200);
  }
  const { attempts } = server;
  await pass("some attempts", () => server.attempts > attempts + 12);
  server.refusal = undefined;
  await pass("all done", () => server.done.length === 3);
  await pass("all reported", () => server.statuses.reduce((sum, one) => sum + Number(one["cur_perf"]), 0) === 30);
  const before = server.statuses.length;
  await pass("more reports", () => server.statuses.length > before + 1);
  assert.equal(
    server.statuses.reduce((sum, one) => sum + Number(one["cur_perf"]), 0),
    30,
  );
  assert.deepEqual(server.done.toSorted(), ["1 Success", "2 Success", "3 Success"]);
});

test("the first server that answers is enough", async (t) => {
  const other = await RecordingServer.listen(t);
  const dead = createServer();
  const away = await listen(t, dead);
  dead.close();
  const { server, pass } = await aWorker(t, echo, { variables: { REPORT_ADDR: `${away}, ${other.url}/` } });
  await pass("a report", () => other.statuses.length > 0);
  assert.equal(server.statuses.length, 0);
});

test("a server that accepts a message and does not answer is given up for the next one", async (t) => {
  const other = await RecordingServer.listen(t);
  const silent = await listen(t, createServer());
  const { pass } = await aWorker(t, echo, { variables: { REPORT_ADDR: `${silent}, ${other.url}` } });
  await pass("a report", () => other.statuses.length > 0);
});

test("an idle connection is kept for longer than clients keep it", async (t) => {
  const { ask } = await aReadyWorker(t, echo);
  const [, seconds] = /timeout=(\d+)/.exec((await ask("/work")).headers.get("keep-alive") ?? "") ?? [];
  assert.ok(Number(seconds) > 60, `${seconds} s`);
});

test("only the server can announce an update; the worker then finishes its requests and takes no new ones", async (t) => {
  const { listener, waiting } = held();
  const { ask, url } = await aReadyWorker(t, listener);
  const first = ask("/work");
  await until("at work", () => waiting.length === 1);
  const update = (token: string) =>
    fetch(`${url}/pyworker/update`, { method: "POST", headers: { authorization: `Bearer ${token}` } });
  assert.equal((await update("guess")).status, 401);
  const answer = await update(TOKEN);
  assert.deepEqual([answer.status, await answer.json()], [200, { ok: true }]);
  assert.equal((await ask("/work", { auth: { request_idx: 2, reqnum: 2 } })).status, 503);
  waiting[0]?.end("done");
  assert.equal(await (await first).text(), "done");
});

test("a worker that ends finishes its requests and reports them", async (t) => {
  const { listener, waiting } = held();
  const { ask, server, worker, pass, url } = await aReadyWorker(t, listener);
  const first = ask("/work");
  await until("at work", () => waiting.length === 1);
  const drained = worker.drain(60_000);
  waiting[0]?.end("done");
  assert.equal(await (await first).text(), "done");
  let isDrained = false;
  void drained.then(() => (isDrained = true));
  await pass("the end", () => isDrained);
  assert.deepEqual(server.done, ["1 Success"]);
  await assert.rejects(fetch(`${url}/work`, { method: "POST" }));
});

test("a benchmark measures the units a second, and is not repeated on the same disk", async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), "berth-worker-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = new ManualClock();
  let asked = 0;
  const backend: RequestListener = (request, response) => {
    if (request.url !== "/health") asked += 1;
    if (asked > 1) clock.advance(100);
    request.resume();
    response.end("{}");
  };
  const benchmark = {
    route: "/work",
    payload: { n: 1 },
    load: 50,
    requests: 8,
    concurrency: 2,
    file: path.join(folder, "kept/b.json"),
  };
  const start = () => aWorker(t, backend, { benchmark, clock });
  const { server, worker } = await start();
  assert.equal(await worker.ready, true);
  assert.equal(asked, 9, "one to warm up");
  await until("the report", () => (clock.advance(1_000), Number(server.last["max_perf"]) > 0));
  const perf = Number(server.last["max_perf"]);
  assert.ok(perf > 400 && perf <= 600, `${perf}`);
  const again = await start();
  assert.equal(await again.worker.ready, true);
  assert.equal(asked, 9, "what was measured before holds");
  await until("the report", () => (clock.advance(1_000), again.server.last["max_perf"] === perf));
});

test("a benchmark that fails is reported, and no request is taken", async (t) => {
  const benchmark = { route: "/work", payload: {}, load: 1, requests: 2, concurrency: 1, file: undefined };
  const { server, worker, pass, ask } = await aWorker(
    t,
    (request, response) => response.writeHead(request.url === "/health" ? 200 : 500).end(),
    { benchmark },
  );
  assert.equal(await worker.ready, false);
  await pass("the failure", () => String(server.last["error_msg"]).includes("the benchmark failed"));
  assert.equal((await ask("/work")).status, 503);
});

test("missing variables are reported to the server as far as possible, and to the caller", async (t) => {
  const server = await RecordingServer.listen(t);
  const start = (environment: Record<string, string>) =>
    startWorker({
      ...{ backendUrl: "http://127.0.0.1:9", routes: ["/work"], healthPath: "/", benchmark: { perf: 1 }, atOnce: 1 },
      ...{ maxQueueSeconds: 1, calculateLoad: () => 1, environment, certificate: undefined, clock: new ManualClock() },
      ...{ newId: () => "", log: () => undefined },
    });
  const speaker = { CONTAINER_ID: "7", MASTER_TOKEN: TOKEN, REPORT_ADDR: server.url };
  await assert.rejects(start({ ...speaker, PUBLIC_IPADDR: "192.0.2.1" }), /VAST_TCP_PORT_3000 is not set/);
  assert.equal(server.last["error_msg"], "VAST_TCP_PORT_3000 is not set");
  await assert.rejects(
    start({ REPORT_ADDR: "ftp://x" }),
    /CONTAINER_ID is not set; MASTER_TOKEN is not set; REPORT_ADDR/,
  );
});

test("an unsecured worker takes requests of anybody", async (t) => {
  const { url } = await aReadyWorker(t, echo, { variables: { UNSECURED: "true" } });
  const answer = await fetch(`${url}/work`, { method: "POST", body: '{"payload":{"a":1}}' });
  assert.equal(await answer.text(), '/work {"a":1}');
});

test("a session keeps its place until it ends or expires, for the client that opened it", async (t) => {
  const closed: string[] = [];
  const { ask, url, server, pass } = await aReadyWorker(t, (request, response) => {
    void text(request).then((body) => {
      if (request.url === "/close") closed.push(body);
      response.end("ok");
    });
  });
  const on = { on_close_route: "/close", on_close_payload: { bye: 1 } };
  const open = (idx: number) =>
    ask("/session/create", { auth: { request_idx: idx, reqnum: idx }, payload: { lifetime: 30, ...on } });
  const use = (route: string, idx: number) =>
    fetch(`${url}/session/${route}`, {
      method: "POST",
      body: JSON.stringify({ session_id: "session-1", session_auth: authFor(url, { request_idx: idx, reqnum: idx }) }),
    });
  const forever = { payload: { lifetime: 1e9 } };
  assert.equal((await ask("/session/create", { auth: { request_idx: 9, reqnum: 9 }, ...forever })).status, 422);
  const opened = await open(1);
  assert.equal(opened.status, 201);
  assert.equal(((await opened.json()) as { session_id: string }).session_id, "session-1");
  const own = { request_idx: 1, reqnum: 1 };
  for (let turn = 0; turn < 3; turn += 1) {
    assert.equal((await ask("/work", { auth: own, sessionId: "session-1" })).status, 200);
  }
  assert.equal((await use("get", 1)).status, 200);
  assert.equal((await use("get", 2)).status, 401);
  assert.equal((await ask("/work", { auth: { request_idx: 3, reqnum: 3 }, sessionId: "another" })).status, 410);
  assert.deepEqual(
    server.done.filter((one) => one.startsWith("1 ")),
    [],
    "its place is kept",
  );
  assert.equal((await use("end", 1)).status, 200);
  assert.deepEqual(closed, ['{"session_id":"session-1","bye":1}']);
  await pass("its end", () => server.done.includes("1 Success"));
  assert.equal((await use("get", 1)).status, 410);
  assert.equal((await open(4)).status, 201);
  await pass("it expires", () => server.done.includes("4 Success"));
  assert.equal(closed.length, 2);
});
