// A worker in a real container of a real agent: it reaches the server through its host, and is reached from outside.
import assert from "node:assert/strict";
import { test } from "node:test";
import { order } from "../../agent/test/fixtures.ts";
import { RealAgent } from "../../agent/test/real-agent.ts";
import { until } from "../../test/support/until.ts";
import { workerImage } from "../../test/support/serverless/worker-image.ts";
import { authFor, RecordingServer, TOKEN } from "../test/place.ts";

test("a worker in a container reports through its host, serves a signed request, and finishes its requests when it is stopped", async (t) => {
  const image = await workerImage();
  const agent = await RealAgent.start(`worker-e2e-${process.pid}`, ["--port-range", "27860-27880"]);
  t.after(() => agent.close());
  const recording = new RecordingServer();
  agent.server.answer = recording.listener;
  const env: [string, string][] = [
    ["CONTAINER_ID", "7"],
    ["MASTER_TOKEN", TOKEN],
    ["TEST_UNITS_PER_SECOND", "50"],
  ];
  const ports = [{ containerPort: 3000, protocol: "tcp" as const }];
  agent.server.desire([order(7, { image, env, ports })]);
  const running = await agent.server.untilState(7, "running");
  const url = `http://127.0.0.1:${running.ports["3000/tcp"]}`;
  await until("it is ready", () => recording.statuses.some((status) => Number(status["loadtime"]) > 0));
  const ready = recording.last;
  assert.deepEqual([ready["id"], ready["mtoken"], ready["url"], ready["error_msg"]], [7, TOKEN, url, ""]);
  // The most that the backend can do, or less where it had to wait for the machine.
  assert.ok(Number(ready["max_perf"]) > 0 && Number(ready["max_perf"]) <= 51, JSON.stringify(ready));

  const ask = (idx: number, units: number, changes: Readonly<Record<string, unknown>> = {}) =>
    fetch(`${url}/work`, {
      method: "POST",
      body: JSON.stringify({
        auth_data: authFor(url, { request_idx: idx, reqnum: idx, ...changes }),
        payload: { units },
      }),
    });
  const answer = await ask(1, 5);
  assert.deepEqual([answer.status, await answer.json()], [200, { worker: 7, units: 5 }]);
  assert.equal((await ask(2, 5, { signature: "AAAA" })).status, 401);
  await until("it is told as done", () => recording.done.includes("1 Success"));

  await agent.kill("SIGKILL");
  agent.spawn();
  const { length } = recording.statuses;
  await until("it reports through the next agent", () => recording.statuses.length > length);
  await agent.server.until("that agent", () => agent.server.peers.length === 2);

  const last = ask(3, 50);
  await until(
    "it is at work",
    () => recording.last["num_requests_working"] === 1 || recording.done.includes("3 Success"),
  );
  agent.server.desire([order(7, { image, env, ports, run: "stopped" })]);
  assert.equal((await last).status, 200);
  await agent.server.untilState(7, "stopped");
  assert.ok(recording.done.includes("3 Success"), recording.done.join());
});
