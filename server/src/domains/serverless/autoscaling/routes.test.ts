import assert from "node:assert/strict";
import { test } from "node:test";
import { testApp, type TestApp } from "../../../../../test/support/app.ts";
import { inTransaction, type TestCaller } from "../../../../../test/support/fixtures.ts";
import { asId, type EndpointGroupId, type InstanceId, type WorkerGroupId } from "../../../base/ids.ts";
import { recordEvents } from "./event-store.ts";

async function anEndpoint(world: TestApp, owner: TestCaller): Promise<{ endpoint: number; group: number }> {
  const { secret } = owner;
  const body = { endpoint_name: "e", cold_workers: 0, min_load: 0 };
  const made = await world.call({ method: "POST", url: "/api/v0/endptjobs/", secret, body });
  const endpoint = Number(made.body.result);
  const recipe = { endpoint_id: endpoint, launch_args: "--image alpine", cold_workers: 0 };
  const group = await world.call({ method: "POST", url: "/api/v0/workergroups/", secret, body: recipe });
  return { endpoint, group: Number(group.body.id) };
}

/** Records some events of each level. */
async function recordSome(world: TestApp, { endpoint, group }: { endpoint: number; group: number }): Promise<void> {
  const endpointGroupId = asId<EndpointGroupId>(endpoint);
  await inTransaction(world.env.database, (tx) =>
    recordEvents(tx, [
      { endpointGroupId, kind: "change", level: 0, sentence: "Zero." },
      { endpointGroupId, kind: "decision", level: 1, sentence: "One\nof two lines.", detail: { reason: "steady" } },
      {
        endpointGroupId,
        workerGroupId: asId<WorkerGroupId>(group),
        instanceId: asId<InstanceId>(77),
        kind: "worker",
        level: 2,
        sentence: "Two.",
      },
      { endpointGroupId, kind: "worker", level: 3, sentence: "Three." },
    ]),
  );
}

test("logs have the four streams, each with the events of those before it, one line per event", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const made = await anEndpoint(world, owner);
  await recordSome(world, made);
  // The key is in the body alone, as the serverless SDK sends it.
  const answer = await world.call({
    method: "POST",
    url: "/get_endpoint_logs/",
    body: { endpoint: "e", api_key: owner.secret, tail: 4 },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body).toSorted(), ["debug", "info0", "info1", "logs", "trace"]);
  const texts = (stream: string) =>
    String(answer.body[stream])
      .split("\n")
      .map((line) => line.replace(/^\S+ /, ""));
  assert.deepEqual(texts("info0"), ["Zero."]);
  assert.deepEqual(texts("info1"), ["Zero.", "One of two lines."]);
  assert.deepEqual(texts("trace"), ["Zero.", "One of two lines.", "worker 77: Two."]);
  assert.deepEqual(texts("debug"), ["Zero.", "One of two lines.", "worker 77: Two.", "Three."]);
  const ofGroup = await world.call({
    method: "POST",
    url: "/get_autogroup_logs/",
    secret: owner.secret,
    body: { id: made.group },
  });
  assert.match(String(ofGroup.body["debug"]), /^\S+ worker 77: Two\.$/);
});

test("a log ends with its newest lines, as many as asked for, and any number may be asked for", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const made = await anEndpoint(world, owner);
  await recordSome(world, made);
  const logOf = async (tail: number | null) => {
    const body = { id: made.endpoint, tail };
    const answer = await world.call({ method: "POST", url: "/get_endpoint_logs/", secret: owner.secret, body });
    assert.equal(answer.status, 200, answer.text);
    return String(answer.body["debug"]);
  };
  const whole = await logOf(null);
  assert.match(whole, /Zero\..+Three\.$/s);
  for (const tail of [-1, 10_001, Number.MAX_SAFE_INTEGER]) assert.equal(await logOf(tail), whole, String(tail));
  assert.equal(await logOf(1), whole.split("\n").at(-1));
});

test("a key in the body has the rights that it has in the header, and a request without a key is refused", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const stranger = await world.caller();
  const { endpoint } = await anEndpoint(world, owner);
  const ask = (key: string | undefined, secret?: string) =>
    world.call({
      method: "POST",
      url: "/get_endpoint_logs/",
      body: { id: endpoint, ...(key === undefined ? {} : { api_key: key }) },
      ...(secret === undefined ? {} : { secret }),
    });
  assert.equal((await ask(owner.secret)).status, 200);
  assert.equal((await ask(undefined)).status, 401);
  assert.equal((await ask("wrong")).status, 401);
  const foreign = await ask(stranger.secret);
  assert.deepEqual([foreign.status, foreign.body["error_msg"]], [404, "Endpointgroup not found for user"]);
  // The key in the header counts where both are sent.
  assert.equal((await ask(owner.secret, stranger.secret)).status, 404);
  assert.equal((await ask(owner.secret, "wrong")).status, 401);
});

test("events are read page by page from the newest on, at the level that is asked for", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const made = await anEndpoint(world, owner);
  await recordSome(world, made);
  const page = async (query: string) => {
    const url = `/api/v0/endptjobs/${made.endpoint}/events/${query}`;
    const { status, body, text } = await world.call({ url, secret: owner.secret });
    assert.equal(status, 200, text);
    return body["events"] as readonly { readonly id: number; readonly sentence: string; readonly detail: object }[];
  };
  const [newest, older] = await page("?level=1&limit=2");
  assert.deepEqual(
    [newest?.sentence, newest?.detail, older?.sentence],
    ["One\nof two lines.", { reason: "steady" }, "Zero."],
  );
  assert.deepEqual(
    (await page(`?level=3&before=${newest?.id ?? 0}&limit=1`)).map((event) => event.sentence),
    ["Zero."],
  );
  for (const query of ["level=4", "before=1e300", "before=0"]) {
    const wrong = await world.call({
      url: `/api/v0/endptjobs/${made.endpoint}/events/?${query}`,
      secret: owner.secret,
    });
    assert.equal(wrong.status, 400, query);
  }
});

test("only the owner of a group begins and calls off an update of its workers", async (t) => {
  const world = await testApp(t);
  const owner = await world.caller();
  const stranger = await world.caller();
  const { group } = await anEndpoint(world, owner);
  const ask = (user: TestCaller, body: object) =>
    world.call({
      method: "POST",
      url: "/update_workers/",
      body: { workergroup_id: group, api_key: user.secret, ...body },
    });
  const isUpdating = async () => {
    const { body } = await world.call({ url: "/api/v0/workergroups/", secret: owner.secret });
    return (body["results"] as readonly { readonly is_updating: boolean }[])[0]?.is_updating;
  };
  assert.deepEqual((await ask(owner, {})).body, { success: true, cancelled: false, workers_to_update: 0 });
  assert.equal(await isUpdating(), true);
  const foreign = await ask(stranger, { cancel_update: true });
  assert.deepEqual([foreign.status, typeof foreign.body["error_msg"]], [404, "string"]);
  assert.equal(await isUpdating(), true);
  assert.deepEqual((await ask(owner, { cancel_update: true })).body, {
    success: true,
    cancelled: true,
    workers_to_update: 0,
  });
  assert.equal(await isUpdating(), false);
});
